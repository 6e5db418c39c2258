"""PIN7xx: what can be wrong with the wheel index, its records, and what is to be published."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN701",
        ERROR,
        "record unreadable",
        "A line of the records (wheels.jsonl) is no record: it is no JSON object, lacks a key, has an unknown one, or a"
        " value that cannot be used. No index is built of records that are half understood.",
        "Mend the line that the message names; docs/index.md lists the keys.",
        '{"filename": "x.whl", "chanel": "release"}',
    ),
    Code(
        "PIN702",
        ERROR,
        "several digests for a file",
        "One file name on one page has two or more digests, so a file was replaced, or two were given one name. pip"
        " takes the last link and uv the first, and lock files hold one or the other.",
        "Find out which one the URL gives (`pinctl index verify --fetch`), and record the decision with the command in"
        " the hint. The other digests stay in the records, and no page lists them.",
        '<a href="a-1.0-py3-none-any.whl#sha256=11...">\n<a href="a-1.0-py3-none-any.whl#sha256=22...">',
    ),
    Code(
        "PIN703",
        ERROR,
        "foreign label",
        "A file on the page of one variant has the label of another, such as +cu128 on the page of cu129. Who names"
        " that page gets a build for another CUDA. Labels that belong to no known variant (dates, commits) can stand"
        " anywhere.",
        "Publish it on the page of its label. `pinctl index import` copies it there, and leaves it, yanked, where it"
        " was.",
        "cu129/kernels/: kernels-1.0+cu128-cp310-abi3-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN704",
        ERROR,
        "digest missing",
        "A link has no sha256, or one that is none. Where some files of a version have digests and some have none,"
        " lockers that want all or none break, and what has none is trusted as it comes.",
        "Write #sha256=... on every link: `pinctl index build` does, from the records.",
        '<a href="kernels-1.0-cp312-cp312-manylinux_2_28_aarch64.whl">',
    ),
    Code(
        "PIN705",
        WARNING,
        "duplicate link",
        "A page lists one file more than once, with one digest.",
        "Build the page from records rather than by appending to it.",
        '<a href="a-1.0-py3-none-any.whl#sha256=11...">\n<a href="a-1.0-py3-none-any.whl#sha256=11...">',
    ),
    Code(
        "PIN706",
        WARNING,
        "bare plus in a link",
        "A link has a `+` that is not written %2B. Object stores read it as a space and answer 404; pip hides the fault"
        " by escaping it again, and other clients do not.",
        "Write %2B: `pinctl index build` does.",
        '<a href="https://storage.example/kernels-1.0+cu129-py3-none-any.whl">',
    ),
    Code(
        "PIN707",
        ERROR,
        "dead link",
        "A page lists a file that is not there. One dead link to a newer version fails every install that does not name"
        " an older one.",
        "Publish the file first and its page afterwards; or withdraw the file in the records.",
        "https://files.example/kernels-1.1-py3-none-any.whl: 404",
    ),
    Code(
        "PIN708",
        ERROR,
        "metadata of another digest",
        "A page promises METADATA beside a file (PEP 658), and it is missing, has another digest, or is not what the"
        " wheel holds; or its two attributes differ (PEP 714). Clients do not fall back to the wheel: they fail.",
        "Publish FILE.metadata before its page, with the very bytes of the wheel's METADATA.",
        'data-core-metadata="sha256=11..." and a .metadata with the digest 22...',
    ),
    Code(
        "PIN709",
        ERROR,
        "name of a file or a page",
        "A file is named otherwise than PEP 427 and PEP 440 want, is shown under another name than its own, or stands"
        " on the page of another project; or a page's folder is not normalized (PEP 503), so that no client asks for"
        " it.",
        "Rename the folder, or build the file anew; a wheel's name also stands inside it.",
        "Sgl_Kernel/: sgl.kernel-1.0.0+CU129-py3-none-any.whl",
    ),
    Code(
        "PIN710",
        ERROR,
        "HTML and JSON differ",
        "The two forms of one page list different files or digests, so it depends on the client what is installed.",
        "Make both from the same records: `pinctl index build`.",
        "index.html lists a file that index.v1_json does not",
    ),
    Code(
        "PIN711",
        ERROR,
        "file of another digest",
        "The bytes that a URL gives have another sha256, or size, than its page says. Every client refuses the file.",
        "Restore the file that was published; a changed one needs a new version.",
        "#sha256=11..., and the file has the digest 22...",
    ),
    Code(
        "PIN712",
        WARNING,
        "hole in the matrix",
        "A version is missing on a page for a Python or a processor that its variant declares, or that other variants"
        " have of the same version.",
        "Build and publish what is missing, or take it out of the variant's `python` or `platforms`.",
        "kernels 1.0 is there for x86_64 in cu129 and cu130, and for aarch64 in cu129 alone",
    ),
    Code(
        "PIN713",
        ERROR,
        "page that cannot be trusted",
        "A page of an index is not read as its author means it, or cannot be read: it is not UTF-8, moves its links by"
        " a `<base>`, is too large, is no page of an index, or leads where no public file is.",
        "Write plain UTF-8 pages whose links lead to the files: `pinctl index build` does.",
        '<base href="//elsewhere.example/">',
    ),
    Code(
        "PIN714",
        WARNING,
        "no metadata",
        "A wheel has no METADATA beside it (PEP 658), and perhaps no requires-python. Resolvers download the whole"
        " wheel, which may have hundreds of megabytes, to learn what it needs.",
        "Publish FILE.metadata beside it, and say so in its record.",
        '<a href="kernels-1.0-py3-none-any.whl#sha256=11...">',
    ),
    Code(
        "PIN715",
        WARNING,
        "one name for several files",
        "Files of one name and different bytes stand on several pages. Their digests tell them apart, and nothing"
        " else does.",
        "Give each build a version of its own: a label for the variant, a date or a commit for a nightly.",
        "cu129/ and nightly/cu129/ have a kernels-1.0-py3-none-any.whl each",
    ),
    Code(
        "PIN716",
        ERROR,
        "unknown channel",
        "A record is of a channel that `channels` of [index] does not list.",
        "Add the channel, or correct the record.",
        'channels = ["release"], and a record with "channel": "nigthly"',
    ),
    Code(
        "PIN717",
        ERROR,
        "name taken by other bytes",
        "A file is to be published under a name that other bytes have, or had: names are never given again, since lock"
        " files and caches hold the old digest.",
        "Give the new build another version: a post release, or another label.",
        "kernels-1.0-py3-none-any.whl was published with the digest 11..., and now has 22...",
    ),
    Code(
        "PIN718",
        ERROR,
        "link that no record can hold",
        "A link of an index that is taken over cannot be kept: its file has no name that can be understood, or its URL"
        " is malformed.",
        "Look at the link; where it is no wheel, nothing is lost.",
        '<a href="kernels-latest.whl">',
    ),
    Code(
        "PIN719",
        INFO,
        "misfiled file copied",
        "A file that stood on the page of another variant was copied to the page of its label. It stays, yanked, where"
        " it was: lock files and exact versions still find it there, and nothing else does.",
        "Nothing is to be done.",
        "kernels-1.0+cu128-py3-none-any.whl of cu129 is now on the page of cu128",
    ),
    Code(
        "PIN720",
        ERROR,
        "local version for PyPI",
        "PyPI answers 400 to a version with a local label, such as 1.0+cu129 (PEP 440: an index for upstream projects"
        " takes none).",
        "Send the wheel of one variant, without a label, and the others to an index of your own.",
        "kernels-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN721",
        ERROR,
        "platform that PyPI refuses",
        "PyPI takes wheels for manylinux, musllinux, macOS, Windows and any; not for linux_x86_64, which says nothing"
        " of the system that the wheel needs.",
        "Repair the wheel with auditwheel, which finds the right tag.",
        "kernels-1.0-cp310-abi3-linux_x86_64.whl",
    ),
    Code(
        "PIN722",
        ERROR,
        "too large for PyPI",
        "PyPI takes files of 100 MiB, unless it was asked for more.",
        "Ask PyPI for a higher limit, build for fewer architectures, or publish to an index of your own.",
        "kernels-1.0-cp310-abi3-manylinux_2_28_x86_64.whl: 812.3 MiB",
    ),
    Code(
        "PIN723",
        ERROR,
        "variants with one PyPI name",
        "Wheels of two variants without labels have one name, and PyPI takes one file of a name.",
        "Let one variant go to PyPI, and give the other a label and an index.",
        "cu12 and cu13 both make kernels-1.0-cp310-abi3-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN724",
        ERROR,
        "README does not render",
        "PyPI refuses a file whose description is of an unknown type, or is malformed reStructuredText.",
        "Set `readme` to a Markdown file, or mend what the message names.",
        "Description-Content-Type: text/html",
    ),
    Code(
        "PIN725",
        ERROR,
        "release closed",
        "Since July 2026 PyPI takes no new files for a release whose first file is older than 14 days.",
        "Make a new release; a post release, where nothing but the wheels is new.",
        "kernels 1.0 is of 2026-07-01, and a wheel for aarch64 comes on 2026-07-20",
    ),
    Code(
        "PIN726",
        ERROR,
        "not published",
        "A target did not take what was sent, or cannot be looked at, so nothing of it can be said. What other targets"
        " took stays published, and what this one took before it failed is a no-op the next time.",
        "Mend what the message names, and run the same command again: it goes on where it stopped.",
        "pypi was not published: upload.pypi.example does not answer",
    ),
    Code(
        "PIN727",
        ERROR,
        "beyond what a release takes",
        "An asset of a GitHub release is smaller than 2 GiB, and a release has at most 1,000 of them; the METADATA"
        " beside each wheel counts.",
        "Build for fewer architectures, or publish to an index of your own.",
        "kernels-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl has 2.31 GiB",
    ),
    Code(
        "PIN728",
        ERROR,
        "not seen from outside",
        "A file that was published is not where its page or its link has it, is another one there, or pip or uv does"
        " not install it by the name and digest that it was published with.",
        "Look at what the client says; where a server shows old pages, run `pinctl publish --verify` a little later.",
        "pip does not install kernels-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl: no matching distribution",
    ),
)
