"""Studies that the tests of the survey page ask."""

SURVEY = """
name = "health"
title = "How are you, really?"
description = "Four short questions about health and habits. It takes a minute."
language = "en"
epsilon = 4.0

[translations.de]
title = "Wie geht es Ihnen wirklich?"
description = "Vier kurze Fragen zu Gesundheit und Gewohnheiten. Es dauert eine Minute."

[[attribute]]
name = "age"
question = "How old are you?"
values = ["18-29", "30-44", "45-59", "60+"]

[attribute.translations.de]
question = "Wie alt sind Sie?"

[[attribute]]
name = "smokes"
question = "Do you smoke?"
values = ["never", "before", "now"]

[attribute.translations.de]
question = "Rauchen Sie?"
values = ["nie", "früher", "jetzt"]

[[attribute]]
name = "exercise"
question = "How often do you exercise?"
values = ["rarely", "weekly", "daily"]

[attribute.translations.de]
question = "Wie oft treiben Sie Sport?"
values = ["selten", "jede Woche", "jeden Tag"]

[[attribute]]
name = "region"
question = "Where do you live?"
values = [
  "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west", "abroad"
]

[attribute.translations.de]
question = "Wo wohnen Sie?"
values = [
  "Norden", "Nordosten", "Osten", "Südosten", "Süden", "Südwesten", "Westen", "Nordwesten",
  "im Ausland"
]
"""

# Reports of one answer differ often: 40 % of them are the answer, 15 % each of the others.
ONE = """
name = "one"
epsilon = 1.0

[[attribute]]
name = "colour"
question = "Which colour?"
values = ["red", "green", "blue", "white", "black"]
"""

# Reports are groups of answers: of three questions at once, some values together.
COARSE = """
name = "coarse"
title = "How are you, really?"
language = "en"
clusters = [["age", "smokes", "exercise"]]

[[attribute]]
name = "age"
question = "How old are you?"
values = ["18-29", "30-44", "45-59", "60+"]

[[attribute]]
name = "smokes"
question = "Do you smoke?"
values = ["never", "before", "now"]

[[attribute]]
name = "exercise"
question = "How often do you exercise?"
values = ["rarely", "weekly", "daily"]

[[channel]]
attributes = ["age", "smokes", "exercise"]
kind = "partition"
sizes = [4, 3, 3]
leaves = [
  [[0, 1], [0, 1], [0]],
  [[0, 1], [0, 1], [1, 2]],
  [[2, 3], [0, 1], [0, 1, 2]],
  [[0, 1, 2, 3], [2], [0, 2]],
  [[0, 1, 2, 3], [2], [1]],
]
channel = { kind = "kary", size = 5, same = 20, other = 4 }
"""
