"""Issues as other trackers write them down, read without Trimus's database: GitHub's JSON, Linear's and Jira's CSV."""
