"""Hooks of MkDocs that make the pages of the documentation site from the .md files of the source tree.

The files are written for CommonMark, and are changed where Python-Markdown parses them differently. A link to a source file that is not a page becomes plain code.
Files in docs/ that pages link to or show as images are copied to the site.
"""

import os
import re
import subprocess

from mkdocs.structure.files import File, Files

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ITEM = re.compile(r"^( *)((?:[-*+]|\d+\.) +)(?=\S)")
TITLE = re.compile(r"^# +(.*)$", re.M)
LINK = re.compile(r"(`[^`\n]*`)|\[([^\]]*)\]\(([^)\s]+)\)")
IMAGE = re.compile(r'<(?:img|source)\b[^>]*\bsrc(?:set)?="([^"]+)"')


def tracked():
    """The files of the source tree, without ignored ones; all files outside build folders if the tree is not a git repository."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    names = {n for n in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, n))}
    return sorted(
        names
        or {
            os.path.relpath(os.path.join(d, f), ROOT)
            for d, _, fs in os.walk(ROOT)
            for f in fs
            if not os.path.relpath(d, ROOT).startswith(("build", ".git"))
        }
    )


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


NAMES = tracked()
PAGES = [name for name in NAMES if name.endswith(".md")]


def title_of(text, default):
    title = TITLE.search(text)
    return title[1] if title else default


def target_of(page, link):
    """The source file that a link of a page refers to, or None for other links. For a folder it is the folder's README.md."""
    path = link.partition("#")[0]
    if not path or re.match(r"[a-z]+:", path):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page), path))
    readme = os.path.join(path, "README.md")
    return readme if readme in PAGES else path


def folder_entries(folder):
    """The pages of a folder: its README.md, the pages in the order of the links in README.md here and in the parent folder, then the other pages."""
    pages = [page for page in PAGES if os.path.dirname(page) == folder]
    readmes = [os.path.join(path, "README.md") for path in (folder, os.path.dirname(folder))]
    linked = readmes[:1] + [
        target_of(readme, match[3])
        for readme in readmes
        if readme in PAGES
        for match in LINK.finditer(read(readme))
        if match[3]
    ]
    return sorted(
        pages, key=lambda page: (linked.index(page) if page in linked else len(linked), page)
    )


def source_entries(folder=""):
    """The navigation below a folder outside docs/: its pages, then a section for each folder with pages, or a page if it is the only one."""
    inside = {
        page[len(folder) :].split("/")[0]
        for page in PAGES
        if page.startswith(folder) and "/" in page[len(folder) :]
    } - ({"docs"} if not folder else set())
    result = folder_entries(folder.rstrip("/")) if folder else []
    for name in sorted(inside):
        entries = source_entries(f"{folder}{name}/")
        result.append(
            {name: entries[0] if len(entries) == 1 and isinstance(entries[0], str) else entries}
        )
    return result


def on_config(config):
    """Completes the navigation, and gives headings the anchors that readmes.py and GitHub derive from them."""
    for entry in config.nav:
        for title, value in entry.items():
            if value == "*":
                entry[title] = source_entries()
            elif isinstance(value, str) and value.endswith("/"):
                entry[title] = folder_entries(value.rstrip("/"))
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: (
        re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)
    )
    # The page for errors and the site map need the address of a server.
    config.theme.static_templates.clear()
    return config


def on_files(files, config):
    """The files of the site: pages, linked files and images of docs/, and the assets of the theme and of this folder."""
    copied = {
        target_of(page, match[3])
        for page in PAGES
        for match in LINK.finditer(read(page))
        if match[3]
    }
    copied |= {target_of(page, match[1]) for page in PAGES for match in IMAGE.finditer(read(page))}
    copied = {name for name in copied if name in NAMES and name.startswith("docs/")}
    assets = [
        file for file in files if file.is_css() or file.is_javascript() or file.is_media_file()
    ]
    return Files(
        assets
        + [
            File.generated(config, name, abs_src_path=os.path.join(ROOT, name))
            for name in sorted({*PAGES, *copied})
        ]
    )


def rewrite_link(page, match):
    """A link of a page for the site: to README.md instead of its folder, with the title of the page instead of its file name."""
    code, text, link = match.groups()
    name = None if code else target_of(page, link)
    if name is None:
        return match[0]
    if name in PAGES:
        if text.endswith(".md") and name.endswith(text.lstrip("./")):
            text = title_of(read(name), text)
        path = os.path.relpath(name, os.path.dirname(page) or ".")
        return f"[{text}]({path}{''.join(link.partition('#')[1:])})"
    if name in NAMES and not name.startswith("docs/"):
        return text if text.startswith("`") else f"`{text}`"
    return match[0]


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    if not source.startswith("docs/") and source != "README.md":
        # The search ranks pages of source folders lower. The title is the heading, since the navigation has only the folder's name.
        page.meta.update(search={"boost": 0.3}, title=title_of(markdown, page.title))
    return "\n".join(for_python_markdown(source, markdown.splitlines()))


def for_python_markdown(source, lines):
    """Lines of a page with the blank lines, indents of lists, titles of code blocks and levels of headings that Python-Markdown and the theme require."""
    result, indents, before, fence, comment, titles = [], [], "", False, False, 0
    for line in lines:
        if fence:
            fence = line != "```"
        elif comment or line.startswith("<!--"):
            comment = "-->" not in line
            continue
        elif line.startswith("```"):
            language, name = [*line[3:].split(), "", ""][:2]
            line, fence, indents = f"```{language}" + (f' title="{name}"' if name else ""), True, []
        elif line.startswith("#"):
            titles += line.startswith("# ")
            line, indents = ("#" if titles > 1 else "") + line, []
        else:
            line = LINK.sub(lambda match: rewrite_link(source, match), line)
            item = ITEM.match(line)
            width, in_list = len(line) - len(line.lstrip()), bool(indents)
            if line.strip() and (item or not before.strip()):
                while indents and width < indents[-1]:
                    indents.pop()
            if (
                item and not in_list or line.startswith("|") and not before.startswith("|")
            ) and before.strip():
                result.append("")
            if line.strip() and (indents or width < 4):
                line = "    " * len(indents) + line.lstrip()
            if item:
                indents.append(len(item[0]))
        result.append(line)
        before = line
    return result
