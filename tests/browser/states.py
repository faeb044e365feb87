"""Every state of the survey page, each a function that brings a page there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from castell import Study
from castell.collector.page_words import built_in
from tests.browser.patience import PATIENCE
from tests.browser.studies import COARSE, SURVEY
from tests.browser.taking_part import ANSWERS, answer, proceed, review, send, with_given, with_text
from tests.study.test_page_warnings import OWNED

if TYPE_CHECKING:
    from playwright.sync_api import Page

# What an Arabic page says around the questions; the rest is English, which no respondent would see.
ARABIC = {
    "language": "اللغة",
    "protectTitle": "الصدفة تخفي إجاباتك",
    "protectLead": "تقرر الصدفة هنا، في متصفحك، هل تُرسل إجابة صحيحة أم إجابة أخرى.",
    "peopleMost": "أقل إخفاء في «{question}»: من بين {all} شخص يرسلون الشيء نفسه، إجابة {some} "
    "منهم الحقيقية مختلفة.",
    "peoplePicture": "من بين {all} شخص يرسلون الشيء نفسه، إجابة {some} منهم مختلفة",
    "more": "الأرقام الدقيقة، وما لا يُحمى",
    "questionNumber": "السؤال {n} من {count}",
    "questionsTitle": "الأسئلة",
    "goOn": "متابعة",
    "reviewNote": "لم يُرسل شيء بعد.",
    "keptNote": "حتى ذلك الحين يتذكر هذا التبويب إجاباتك.",
    "ledgerTitle": "ما أخبر به هذا الجهاز هذا الموقع حتى الآن",
    "ledgerNone": "لا شيء.",
    "ledgerNote": "يُكتب على هذا الجهاز فقط، دون إجاباتك.",
    "imprint": "الناشر",
}
RTL = """
name = "health"
title = "كيف حالك؟"
description = "سؤالان قصيران عن الصحة."
imprint = "https://university.example/imprint"
language = "ar"
epsilon = 2.0

[translations.en]
title = "How are you?"

[[attribute]]
name = "age"
question = "كم عمرك؟"
values = ["أقل من 50", "50 أو أكثر"]

[[attribute]]
name = "smokes"
question = "هل تدخن؟"
values = ["لا", "نعم", "أفضّل عدم الإجابة"]
"""


def came(page: Page, url: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.wait_for_selector("#questions")


def ask(page: Page, url: str) -> None:
    came(page, url)
    page.locator("summary").click()


def missing(page: Page, url: str) -> None:
    came(page, url)
    page.locator("#questions button[type=submit]").click()


def confirm(page: Page, url: str) -> None:
    came(page, url)
    answer(page, ANSWERS)
    proceed(page)


def sent(page: Page, url: str) -> None:
    confirm(page, url)
    send(page)


def already(page: Page, url: str) -> None:
    sent(page, url)
    page.reload()
    page.locator("summary").click()


def coarse(page: Page, url: str) -> None:
    """A group of answers was sent."""
    with_text(page, Study.from_toml(COARSE).to_json())
    page.route("**/reports", lambda route: route.fulfill(status=201, json={"status": "stored"}))
    came(page, url)
    answer(page, {"age": 1, "smokes": 0, "exercise": 2})
    proceed(page)
    send(page)


def before(page: Page, url: str) -> None:
    with_text(page, Study.from_toml('review = "before"\n' + SURVEY).to_json())
    came(page, url)
    answer(page, ANSWERS)
    review(page)


def changed(page: Page, url: str) -> None:
    came(page, url)
    with_text(page, Study.from_toml(SURVEY.replace("4.0", "7.5")).to_json())
    page.reload()
    page.get_by_role("button", name="I have understood").wait_for()


def failed(page: Page, url: str) -> None:
    confirm(page, url)
    page.route("**/reports", lambda route: route.fulfill(status=422, json={"error": "no"}))
    page.locator("#send").click()
    page.wait_for_selector("[role=alert]")


def waiting(page: Page, url: str) -> None:
    page.add_init_script("AbortSignal.timeout = () => AbortSignal.abort()")  # nothing gets through
    confirm(page, url)
    page.locator("#send").click()
    page.wait_for_timeout(300)
    page.reload()
    page.get_by_role("button", name="Send it again").wait_for()


def consent(page: Page, url: str) -> None:
    with_text(page, Study.from_toml(OWNED).to_json())
    came(page, url)
    answer(page, {"age": 1, "smokes": 0})
    proceed(page)
    page.locator("#send").click()


def invited(page: Page, url: str) -> None:
    """A code that the collector has refused."""
    with_given(page, lambda given: given["collector"].update(invitations=True))
    refused = {"error": "the invitation is not known", "remedy": "ask"}
    page.route("**/invitations", lambda route: route.fulfill(status=403, json=refused))
    came(page, url)
    page.locator("#invitation").fill("a" * 20)
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#send").click()
    page.wait_for_selector("#invited.open")


def damaged(page: Page, url: str) -> None:
    with_text(page, "{}")
    page.goto(url)
    page.wait_for_selector("[role=alert]")


def forgetful(page: Page, url: str) -> None:
    page.add_init_script("Object.defineProperty(window, 'indexedDB', {value: undefined})")
    came(page, url)


def kiosk(page: Page, url: str) -> None:
    with_given(page, lambda given: given["page"].update(kiosk=True))
    sent(page, url)
    page.wait_for_selector("#next:not(:empty)")


def preview(page: Page, url: str) -> None:
    with_given(page, lambda given: given["page"].update(preview=True))
    came(page, url)
    answer(page, ANSWERS)


def rtl(page: Page, url: str) -> None:
    def arabic(given: dict[str, Any]) -> None:
        words = {"ar": {**built_in()["en"], **ARABIC}, "en": built_in()["en"]}
        given.update(study=Study.from_toml(RTL).to_json(), words=words)

    with_given(page, arabic)
    came(page, url)
    answer(page, {"age": 1, "smokes": 0})


def rtl_in_english(page: Page, url: str) -> None:
    """Arabic questions with the page's own words in English around them."""
    with_text(page, Study.from_toml(RTL).to_json())
    came(page, url)


STATES: dict[str, Callable[[Page, str], None]] = {
    "ask": ask,
    "missing": missing,
    "confirm": confirm,
    "review": before,
    "sent": sent,
    "already": already,
    "coarse": coarse,
    "changed": changed,
    "failed": failed,
    "waiting": waiting,
    "consent": consent,
    "invited": invited,
    "damaged": damaged,
    "forgetful": forgetful,
    "kiosk": kiosk,
    "preview": preview,
    "rtl": rtl,
    "rtl-english": rtl_in_english,
}
