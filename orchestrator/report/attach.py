"""The report beside its search in MLflow."""

import hashlib

from actors.journal import JournalReader
from actors.ledger import replay
from actors.storage import Storage
from orchestrator.report.write import FOLDER, HTML_NAME, MARKDOWN_NAME
from orchestrator.tracking import Store

TAG = "report_sha"
"""Tag of the search's run: SHA-256 of the report that is in the store."""


def attach_report(store: Store, files: Storage) -> None:
    """Put a run's report into the store, unless there is none or the store has this very one.

    Args:
        store: The store that holds the search.
        files: The run's folder.
    """
    read = {name: files.read(f"{FOLDER}/{name}") for name in (HTML_NAME, MARKDOWN_NAME)}
    pages = {name: page for name, page in read.items() if page is not None}
    plan = replay(JournalReader(files)).plan
    if not pages or plan is None:
        return
    digest = hashlib.sha256(b"".join(pages.values())).hexdigest()
    for run in store.find({"search_id": plan.search_id, "role": "search"}).values():
        if store.tags(run).get(TAG) != digest:
            for name, page in pages.items():
                store.put_bytes(run, page, f"{FOLDER}/{name}")
            store.log(run, tags={TAG: digest})
