"""Visitors who never say goodbye: `python -m tests.load.dropped PORT COUNT HASH...` is a process to stop and to kill.

Each opens some pages and asks for one more, the answer of which it does not read. "ready" is printed then.
"""

import asyncio
import contextlib
import sys

from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: TID251  a tab speaks Streamlit's messages

from tests.load.visitor import opened
from tests.load.visits import LINKS, OTHER_KINDS


async def come(stack, port, number, dataset):
    """Open pages of a dataset, each visitor others."""
    tab = await stack.enter_async_context(opened(port, f"dropped {number}", ds=dataset))
    for page, parameters in [LINKS[(number * 3 + step) % len(LINKS)] for step in range(3)]:
        await tab.visit(page, **({} if page in OTHER_KINDS else {"ds": dataset}), **parameters)
    return tab


async def ask(tab):
    """Ask for the page once more; nobody reads the answer, nor any ping once that has filled the way."""
    asked = BackMsg()
    asked.rerun_script.query_string, asked.rerun_script.page_script_hash = tab.query, tab.page
    await tab.socket.send(asked.SerializeToString())


async def main(port, count, hashes):
    async with contextlib.AsyncExitStack() as stack:
        tabs = [await come(stack, port, number, hashes[number % len(hashes)]) for number in range(count)]
        for tab in tabs:
            await ask(tab)
        print("ready", flush=True)
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
