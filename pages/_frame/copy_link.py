"""Copy link: one click copies the address of what is shown; where a browser forbids that, the address is shown."""

import streamlit as st

from pages._frame import datasets

HTML = """
<button type="button" class="wp-copy" title="Copies a link to this dataset with these settings">Copy link</button>
<input class="wp-address" readonly hidden aria-label="Link to this page" />
"""
CSS = """
.wp-copy, .wp-address {
  font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: transparent; box-sizing: border-box;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.4rem);
  min-height: 2.5rem; padding: 0.25rem 0.75rem; white-space: nowrap;
}
.wp-copy { cursor: pointer; }
.wp-copy:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
.wp-copy:focus-visible, .wp-address:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.wp-address { width: 100%; }
.wp-address[hidden] { display: none; }
"""
JS = """
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector(".wp-copy");
  const field = parentElement.querySelector(".wp-address");
  const address = () => {
    const here = new URL(window.location.href);
    here.hash = "";
    for (const name of [...here.searchParams.keys()]) {
      if (name.startsWith(data.but)) here.searchParams.delete(name);
    }
    here.searchParams.set(data.name, data.value);
    return here.toString();
  };
  const written = async text => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {  // no https, or the browser forbids it
      field.hidden = false;
      field.value = text;
      field.focus();
      field.select();
      return document.execCommand("copy");
    }
  };
  let timer = 0;
  button.onclick = async () => {
    const done = await written(address());
    field.hidden = done;
    if (done) button.focus();
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (document.activeElement === field) button.focus();  // a hidden field would leave the focus nowhere
      button.textContent = "Copy link";
      field.hidden = true;
    }, done ? 2000 : 15000);
  };
  button.setAttribute("aria-live", "polite");
  return () => clearTimeout(timer);
}
"""
_BUTTON = st.components.v2.component("workprof_copy_link", html=HTML, css=CSS, js=JS, isolate_styles=False)


def button(dataset_hash: str, *, but: str) -> None:
    """Show the button; the link names the dataset, and has no parameter that begins with `but`."""
    _BUTTON(key="shell_link", data={"name": datasets.PARAMETER, "value": dataset_hash, "but": but}, width="content")
