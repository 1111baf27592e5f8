"""The verbs that the corpora are written for: what each takes on its line, and whether it takes a body."""

from engine.text.grammar import ArgumentRule, BodyRule, Grammar, VerbGrammar

REQUIRED, OPTIONAL = ArgumentRule.REQUIRED, ArgumentRule.OPTIONAL

VERB_TABLE: Grammar = {
    name: VerbGrammar(name, argument, body)
    for name, argument, body in [
        ("status", REQUIRED, BodyRule.NONE),
        ("assign", REQUIRED, BodyRule.NONE),
        ("priority", REQUIRED, BodyRule.NONE),
        ("label", REQUIRED, BodyRule.NONE),
        ("unlabel", REQUIRED, BodyRule.NONE),
        ("blocked-by", REQUIRED, BodyRule.NONE),
        ("unblock", REQUIRED, BodyRule.NONE),
        ("create-issue", REQUIRED, BodyRule.OPTIONAL),
        ("comment-on", REQUIRED, BodyRule.REQUIRED),
        ("request-approval", REQUIRED, BodyRule.NONE),
        ("ask", REQUIRED, BodyRule.OPTIONAL),
        ("review", REQUIRED, BodyRule.OPTIONAL),
        ("use-skill", REQUIRED, BodyRule.NONE),
        ("write-file", REQUIRED, BodyRule.REQUIRED),
        ("record-finding", OPTIONAL, BodyRule.REQUIRED),
        ("install-skill", OPTIONAL, BodyRule.REQUIRED),
        ("install-agent", OPTIONAL, BodyRule.REQUIRED),
        ("install-routine", OPTIONAL, BodyRule.REQUIRED),
        ("note", REQUIRED, BodyRule.REQUIRED),
        ("forget", REQUIRED, BodyRule.NONE),
        ("remember", REQUIRED, BodyRule.NONE),
        ("pass", REQUIRED, BodyRule.NONE),
        ("help", REQUIRED, BodyRule.NONE),
    ]
}
