"""The templates of the pages. Every value is escaped; no page loads anything from elsewhere, or runs what it does not
hold itself (its Content-Security-Policy names its own style and script by their digests)."""

import hashlib
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

ROOT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.4">
<title>Simple index</title>
</head>
<body>
{% for project in projects -%}
<a href="{{ project }}/">{{ project }}</a><br>
{% endfor -%}
</body>
</html>
"""

PROJECT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.4">
<title>Links for {{ project }}</title>
</head>
<body>
<h1>Links for {{ project }}</h1>
{% for name, href, attributes in anchors -%}
<a href="{{ href }}"{{ attributes | xmlattr }}>{{ name }}</a><br>
{% endfor -%}
</body>
</html>
"""

STYLE = """\
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff; --panel: #f6f8fa;
  --link: #0550ae; --hole: #9a3412; --hole-paper: #fff4ed; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3d444d; --paper: #0d1117;
  --panel: #161b22; --link: #79b8ff; --hole: #ffb077; --hole-paper: #2b1d12; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main, header, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.75rem; margin: 0 0 .25rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; max-width: 48rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, button:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.soft, footer { color: var(--soft); }
nav { margin: .75rem 0; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1rem; }
code, kbd { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; font-size: .875rem; }
tbody th { font-weight: 600; white-space: nowrap; }
td ul { list-style: none; margin: 0; padding: 0; }
.matrix li { white-space: nowrap; }
.hole { color: var(--hole); background: var(--hole-paper); border-radius: 3px; padding: 0 .35rem; }
.none { color: var(--soft); }
.yanked { color: var(--soft); }
.yanked s { text-decoration-thickness: 1px; }
.command { display: flex; align-items: center; gap: .5rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: 5px; padding: .3rem .35rem .3rem .6rem; margin: .25rem 0; min-width: 0; }
.command code { flex: 1; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all;
  padding: .2rem 0; }
.installs td:last-child { width: 100%; }
button { font: inherit; font-size: .8rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; padding: .15rem .6rem; cursor: pointer; }
button:hover { border-color: var(--link); }
.scroll { overflow-x: auto; }
summary { cursor: pointer; color: var(--link); padding: .25rem 0; }
footer { padding-top: 2rem; padding-bottom: 2rem; font-size: .875rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
@media (max-width: 44rem) {
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks tbody, .stacks tr, .stacks td, .stacks tbody th { display: block; }
  .stacks tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .stacks td, .stacks tbody th { border: 0; padding: .15rem 0; white-space: normal; }
  .stacks td[data-label]::before { content: attr(data-label); display: block; color: var(--soft); font-size: .8rem; }
  .matrix td.none { display: none; }
}
"""

SCRIPT = """\
for (const box of document.querySelectorAll(".command")) {
  const button = document.createElement("button"), text = box.querySelector("code").textContent;
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy: " + text);
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
    catch { button.textContent = "Press Ctrl+C"; getSelection().selectAllChildren(box.querySelector("code")); }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  box.append(button);
}
"""


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}; base-uri 'none'; form-action 'none'"
)

PEOPLE = """\
{% macro files(entries) -%}
<ul>
{%- for entry in entries %}
<li{% if entry.yanked is not none %} class="yanked"{% endif %}>
{%- if entry.yanked is not none %}<s>{{ entry.text }}</s> yanked{% if entry.yanked %}: {{ entry.yanked }}{% endif %}
{%- else %}{{ entry.text }}{% endif %}</li>
{%- endfor %}
</ul>
{%- endmacro %}
{% macro matrix(project, rows, caption) -%}
<table class="matrix stacks">
<caption>{{ caption }}</caption>
<thead><tr><th scope="col">Version</th>
{%- for variant in project.variants %}<th scope="col">{{ variant }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in rows %}
<tr><th scope="row">{{ row.version }}</th>
{%- for cell in row.cells %}
<td data-label="{{ cell.variant }}"{% if not cell.files and not cell.missing %} class="none"{% endif %}>
{%- if cell.files %}{{ files(cell.files) }}{% endif %}
{%- if cell.missing %}<span class="hole">missing: {{ cell.missing | join(", ") }}</span>{% endif %}
{%- if not cell.files and not cell.missing %}<span aria-label="nothing">&#8211;</span>{% endif %}</td>
{%- endfor %}</tr>
{%- endfor %}
</tbody>
</table>
{%- endmacro %}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{{ title }}</title>
<style>{{ style }}</style>
</head>
<body>
<a class="skip" href="#wheels">Skip to the wheels</a>
<header>
<h1>{{ title }}</h1>
<p class="soft">{{ summary }}</p>
<nav aria-label="Packages">
{%- for channel in channels %}
<ul aria-label="{{ channel.name }}"><li class="soft">{{ channel.name }}:</li>
{%- for project in channel.projects %}
<li><a href="#{{ project.anchor }}">{{ project.name }}</a></li>
{%- endfor %}</ul>
{%- endfor %}
</nav>
<p>Each variant is an index of its own. Name the one that fits your CUDA or ROCm, and never two at once: a version alone
does not tell them apart.{% if not url %} <code>INDEX</code> stands for the address of this page.{% endif %}</p>
</header>
<main id="wheels">
{%- for channel in channels %}
<section aria-labelledby="{{ channel.anchor }}">
<h2 id="{{ channel.anchor }}">{{ channel.name }}</h2>
{%- if channel.days %}
<p class="soft">Files of this channel are kept for {{ channel.days }} days.</p>
{%- endif %}
{%- for project in channel.projects %}
<section aria-labelledby="{{ project.anchor }}">
<h3 id="{{ project.anchor }}">{{ project.name }}</h3>
<table class="installs stacks">
<caption>How to install the newest version</caption>
<thead><tr><th scope="col">Variant</th><th scope="col">Version</th><th scope="col">Command</th></tr></thead>
<tbody>
{%- for one in project.installs %}
<tr><th scope="row"><a href="{{ one.page }}">{{ one.variant }}</a>
{%- if one.about %}<br><span class="soft">{{ one.about }}</span>{% endif %}</th>
<td>{{ one.public }}{% if one.label %}<wbr>+{{ one.label }}{% endif %}
{%- if one.requires_python %}<br><span class="soft">Python {{ one.requires_python }}</span>{% endif %}</td>
<td><div class="command"><code>{{ one.pip }}</code></div>
<div class="command"><code>{{ one.uv }}</code></div></td></tr>
{%- endfor %}
</tbody>
</table>
<div class="scroll" role="region" aria-label="Wheels of {{ project.name }}" tabindex="0">
{{ matrix(project, project.newest, "Wheels by version and variant") }}
</div>
{%- if project.older %}
<details><summary>{{ project.more }} of {{ project.name }}</summary>
<div class="scroll" role="region" aria-label="Older wheels of {{ project.name }}" tabindex="0">
{{ matrix(project, project.older, "Older wheels by version and variant") }}
</div></details>
{%- endif %}
</section>
{%- endfor %}
</section>
{%- endfor %}
</main>
<footer><p>The page of a variant is for programs:
<a href="https://packaging.python.org/en/latest/specifications/simple-repository-api/">the simple repository API</a>.
Made by pinctl.</p></footer>
<script>{{ script }}</script>
</body>
</html>
"""


@cache
def environment() -> "Environment":
    """The templates, with every value escaped whatever a template is called."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    made = Environment(
        loader=DictLoader({"root.html": ROOT, "project.html": PROJECT, "people.html": PEOPLE}),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    from markupsafe import Markup

    made.globals = {"policy": POLICY, "style": Markup(STYLE), "script": Markup(SCRIPT)}  # noqa: S704 - constants of ours
    return made
