"""A company that is full: 200 agents, an issue that 500 comments talk about, words that no line has room for."""

from __future__ import annotations

from tests.servers import Installation

WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
"""German has it, and a page has to bear it."""

FOUND = f"""
    from agents.services.agents import hire_agent
    from issues.actors import Person
    from issues.effects import quietly, unit
    from issues.models import Company, Priority, Role, Status
    from issues.services.blockers import add_blockers
    from issues.services.comments import write_comment
    from issues.services.companies import found_company
    from issues.services.issues import create_issue
    from issues.services.projects import create_label, create_project

    word = {WORD!r}
    user = Company.objects.get(key="DEMO").members.get(role=Role.OWNER).user
    actor = Person(user)
    with unit(), quietly():
        company = found_company(actor=actor, name=f"Crowd & Sons {{word}}", key="CROWD")
        chief = hire_agent(actor=actor, company=company, name="Chief", title="Runs all of it")
        leads = [
            hire_agent(actor=actor, company=company, name=f"Lead {{n}}", title=f"Answers for {{word}}", manager=chief)
            for n in range(9)
        ]
        agents = [
            hire_agent(actor=actor, company=company, name=f"Worker {{n}}", title="Writes", manager=leads[n % 9])
            for n in range(190)
        ]
        project = create_project(actor=actor, company=company, name=word)
        labels = [create_label(actor=actor, company=company, name=f"label {{n}} {{word[:n * 6]}}") for n in range(8)]
        talked = create_issue(
            actor=actor, company=company, title=f"What 500 comments are about: {{word}}", description=word * 3,
            assignee=agents[0], project=project, labels=labels, status=Status.IN_REVIEW, priority=Priority.URGENT,
        )
        for n in range(500):
            words = word if n % 50 == 49 else "as I said before."
            write_comment(actor=actor, issue=talked, body=f"Comment {{n}}: {{words}}")
        statuses = [Status.BACKLOG, Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW]
        issues = [
            create_issue(
                actor=actor, company=company, title=f"{{word if n % 9 == 0 else 'A plain piece of work'}} {{n}}",
                assignee=agents[n % 190], status=statuses[n % 4], labels=labels[: n % 8],
                parent=talked if n % 6 == 0 else None, priority=list(Priority)[n % 5],
            )
            for n in range(240)
        ]
        add_blockers(actor=actor, issue=issues[0], blockers=issues[1:9])
    import json
    print(json.dumps(talked.identifier))
"""

LONGER = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const vowels = /[aeiou]/gi;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest("script, style, pre, code, textarea, option, time")) {
      node.data = node.data.replace(vowels, (one) => one + one.toLowerCase());
    }
  }
}"""
"""Doubles the vowels: every text is some 40% longer, as many are in other languages."""


def crowd(installation: Installation) -> dict[str, str]:
    """Fill a company of the founder's; its pages by name."""
    talked = installation.python(FOUND)
    return {
        "crowded-home": "/crowd/",
        "crowded-board": "/crowd/board/",
        "crowded-by-agent": "/crowd/board/?group=assignee",
        "crowded-list": "/crowd/issues/",
        "crowded-issue": f"/crowd/issues/{talked}/",
        "crowded-agents": "/crowd/agents/",
        "crowded-activity": "/crowd/activity/",
    }
