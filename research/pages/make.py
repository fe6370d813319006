"""Makes web pages of which the content is known: blogs, forums, documentation and shops.

    python3 research/pages/make.py docs/howto/reports.md docs/DESIGN.md segments-format.md > pages.jsonl
    python3 research/pages/make.py ... --real KIND=PAGE.html ... >> pages.jsonl

The pages are made up, in the markup that widely used systems write, which the functions below follow element
by element; their prose is that of the documents given. With --real pages of such systems are added that
are on this machine; what their content is, is said by the elements in REAL. A line of the output is an
object: `id`, `kind`, `is_real`, `html`, and `article`, the text of the content. Content of the synthetic pages
stands between the comments <!--[--> and <!--]-->, which no reader of pages counts.
"""

import html
import itertools
import json
import re
import sys
from html.parser import HTMLParser

HIDDEN = {"script", "style", "template", "noscript", "svg", "head"}
VOID = {"br", "img", "meta", "link", "input", "hr", "source", "path", "wbr", "area", "col"}


class Content(HTMLParser):
    """The text between marks, or in the element that `starts` accepts, without elements that `skips` does."""

    def __init__(self, starts=None, skips=lambda tag, attributes: False):
        super().__init__()
        self.starts, self.skips = starts, skips
        self.text, self.open, self.inside, self.hidden = [], [], 0, 0

    def handle_comment(self, data):
        if data == "[":
            self.inside += 1
        elif data == "]":
            self.inside -= 1

    def handle_starttag(self, tag, attributes):
        if tag in VOID:
            self.text.append(" ")
            return
        attributes = dict(attributes)
        is_start = self.starts is not None and self.starts(tag, attributes)
        is_hidden = tag in HIDDEN or self.skips(tag, attributes)
        self.open.append((tag, is_start, is_hidden))
        self.inside += is_start
        self.hidden += is_hidden
        self.text.append(" ")

    def handle_endtag(self, tag):
        if tag not in [name for name, _, _ in self.open]:
            return
        while True:
            name, is_start, is_hidden = self.open.pop()
            self.inside -= is_start
            self.hidden -= is_hidden
            if name == tag:
                break
        self.text.append(" ")

    def handle_data(self, data):
        if self.inside > 0 and self.hidden == 0:
            self.text.append(data)


def content(page, **options):
    parser = Content(**options)
    parser.feed(page)
    return " ".join("".join(parser.text).split())


def paragraphs(paths):
    """Paragraphs of prose of Markdown documents, without markup, each once."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for block in file.read().split("\n\n"):
                is_prose = not re.match(r"[#|\-*\d<>`$ ]", block) and len(block.split()) > 25
                if is_prose:
                    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block)
                    yield " ".join(re.sub(r"[`*_]", "", text).split())


class Prose:
    def __init__(self, paths):
        self.rest = list(paragraphs(paths))
        self.at = 0

    def one(self):
        text = self.rest[self.at % len(self.rest)]
        self.at += 1
        return text

    def title(self):
        return " ".join(self.one().split()[:7]).strip(".,;:")

    def p(self, count, link_every=3):
        """Paragraphs in `p`, some of them with a link or a word that stands out, as authors set them."""
        out = []
        for number in range(count):
            words = [html.escape(word) for word in self.one().split()]
            if number % link_every == 0 and len(words) > 12:
                words[5:8] = [f'<a href="/x/{number}">' + " ".join(words[5:8]) + "</a>"]
                words[2] = f"<strong>{words[2]}</strong>"
            out.append("<p>" + " ".join(words) + "</p>")
        return "\n".join(out)

    def sentence(self, words=18):
        return html.escape(" ".join(self.one().split()[:words]))


def links(names, css="menu-item"):
    items = (f'<li class="{css}"><a href="/{n.lower().replace(" ", "-")}/">{n}</a></li>' for n in names)
    return "<ul>" + "".join(items) + "</ul>"


def page(title, body, head=""):
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/style.css"><script>window.dataLayer=[];function f(a){return a<3}</script>'
        f"{head}</head>\n<body>\n{body}\n</body></html>\n"
    )


MENU = ["Home", "About", "Archive", "Categories", "Contact", "Privacy"]
MONTHS = [f"{month} {year}" for year in (2024, 2025) for month in ("January", "March", "May", "July", "October")]


def widget(title, inner):
    return f'<section class="widget"><h2 class="widget-title">{title}</h2>{inner}</section>'


def wordpress(prose, comments, count):
    """A post of WordPress, theme Twenty Fifteen: sidebar, post, comments with reply links."""
    title = prose.title()
    sidebar = "".join([
        widget("Search", '<form role="search"><label><span>Search for:</span><input type="search"></label>'
                         "<button>Search</button></form>"),
        widget("Recent Posts", links([prose.title() for _ in range(5)])),
        widget("Archives", links(MONTHS)),
        widget("Categories", links(["Essays", "Notes", "Software", "Travel"])),
        widget("Meta", links(["Log in", "Entries feed", "Comments feed", "WordPress.org"])),
    ])
    said = "".join(
        f'<li id="comment-{n}" class="comment"><article class="comment-body"><footer class="comment-meta">'
        f'<div class="comment-author vcard"><img alt="" src="/a{n}.png"><b class="fn"><a href="#">Reader {n}</a></b>'
        f'<span class="says">says:</span></div><div class="comment-metadata"><a href="#comment-{n}"><time>'
        f"March {n + 1}, 2025 at 9:0{n % 10} am</time></a></div></footer><div class=\"comment-content\"><p>"
        f"{prose.sentence(40)}</p></div><div class=\"reply\"><a href=\"#respond\">Reply</a></div></article></li>"
        for n in range(comments)
    )
    thread = f'<div id="comments"><h2>{comments} thoughts on this</h2><ol class="comment-list">{said}</ol></div>'
    return page(title, f"""
<a class="skip-link" href="#content">Skip to content</a>
<div id="sidebar"><header class="site-branding"><p class="site-title"><a href="/">A blog</a></p></header>
<nav>{links(MENU)}</nav>{sidebar}</div>
<div id="content"><main><article class="post hentry"><header class="entry-header">
<!--[--><h1 class="entry-title">{title}</h1></header><div class="entry-content">
{prose.p(count)}<!--]-->
<div class="sharedaddy"><h3>Share this:</h3>{links(["Twitter", "Facebook", "Email", "Print"])}</div></div>
<footer class="entry-footer"><span>Posted on <a href="#"><time>March 1, 2025</time></a></span>
<span>Author <a href="#">Ann</a></span><span>Categories <a href="#">Essays</a>, <a href="#">Notes</a></span>
<span><a href="#respond">Leave a comment</a></span></footer></article>{thread if comments else ""}
<nav class="post-navigation"><div><a href="#"><span>Previous</span> {prose.title()}</a></div>
<div><a href="#"><span>Next</span> {prose.title()}</a></div></nav></main></div>
<footer class="site-info"><a href="https://wordpress.org/">Proudly powered by WordPress</a></footer>""")


def ghost(prose):
    """A post of Ghost, theme Casper: cards of other posts below."""
    title = prose.title()
    cards = "".join(
        f'<article class="post-card"><a class="post-card-image-link" href="#"><img src="/{n}.jpg" alt=""></a>'
        f'<div class="post-card-content"><a href="#"><header><div class="post-card-tags"><span>News</span></div>'
        f"<h2>{prose.title()}</h2></header><div class=\"post-card-excerpt\">{prose.sentence(25)}</div></a>"
        f'<footer class="post-card-meta"><time>Jun {n + 1}, 2025</time><span>4 min read</span></footer></div></article>'
        for n in range(3)
    )
    return page(title, f"""
<div class="viewport"><header id="gh-head"><nav><a class="gh-head-logo" href="/">Journal</a>{links(MENU[:4])}
<a class="gh-head-button" href="#/portal">Subscribe</a></nav></header>
<main id="site-main"><article class="article post"><header class="article-header">
<div class="article-tag"><a href="#">News</a></div><!--[--><h1 class="article-title">{title}</h1>
<p class="article-excerpt">{prose.sentence(20)}</p><!--]-->
<div class="article-byline"><ul class="author-list"><li><a href="#"><img alt="Bob" src="/b.png"></a></li></ul>
<h4><a href="#">Bob</a></h4><div><time>Jun 12, 2025</time><span>6 min read</span></div></div></header>
<!--[--><section class="gh-content"><figure><img src="/i.jpg" alt=""></figure>{prose.p(4)}<h2>{prose.title()}</h2>
<blockquote>{prose.sentence(22)}</blockquote>{prose.p(4)}</section><!--]--></article>
<section class="footer-cta"><h2>Sign up for more like this.</h2><a href="#"><div>Enter your email</div>
<span>Subscribe</span></a></section><aside class="read-more">{cards}</aside></main>
<footer class="site-footer"><section>Journal &copy; 2025</section><nav>{links(["Sign up"])}</nav>
<a href="https://ghost.org/">Powered by Ghost</a></footer></div>""")


def jekyll(prose):
    """A post of Jekyll, theme Minima: little but the post."""
    title = prose.title()
    return page(title, f"""
<header class="site-header"><div class="wrapper"><a class="site-title" rel="author" href="/">Notes</a>
<nav class="site-nav"><a class="page-link" href="/about/">About</a></nav></div></header>
<main class="page-content"><div class="wrapper"><article class="post h-entry"><header class="post-header">
<!--[--><h1 class="post-title p-name">{title}</h1><!--]--><p class="post-meta"><time>Feb 3, 2025</time></p></header>
<div class="post-content e-content"><!--[-->{prose.p(6)}<div class="highlight"><pre><code>
<span class="n">let</span> <span class="nv">x</span> <span class="o">=</span> <span class="mi">1</span>;</code></pre></div>
{prose.p(3)}<!--]--></div></article></div></main>
<footer class="site-footer"><div class="wrapper"><ul class="contact-list"><li>Notes</li><li><a href="#">mail</a></li></ul>
<p>{prose.sentence(12)}</p></div></footer>""")


def discourse(prose, posts):
    """A topic of Discourse as it is served without scripts."""
    title = prose.title()
    said = "".join(
        f'<div id="post_{n}" itemprop="comment" class="topic-body crawler-post"><div class="crawler-post-meta">'
        f'<span class="creator"><a rel="nofollow" href="/u/user{n}"><span itemprop="name">user{n}</span></a></span>'
        f'<span class="crawler-post-infos"><time>May {n + 1}, 2025, 8:1{n % 10}am</time><span itemprop="position">{n + 1}'
        f'</span></span></div><div class="post" itemprop="text"><!--[-->{prose.p(1 + n % 2, 2)}<!--]--></div>'
        f'<div class="post-likes"><span>{n} Likes</span></div></div><hr>'
        for n in range(posts)
    )
    rows = "".join(
        f'<tr class="topic-list-item"><td class="main-link"><a href="#" class="title">{prose.title()}</a>'
        f'<div><a href="#"><span>Support</span></a></div></td><td class="replies"><span>{n}</span></td>'
        f'<td class="views">{n * 31}</td><td>June {n + 1}, 2025</td></tr>'
        for n in range(5)
    )
    return page(title, f"""
<header class="d-header"><a href="/">Community</a><div><a href="/signup">Sign up</a><a href="/login">Log In</a></div></header>
<div id="main-outlet"><div id="topic-title"><!--[--><h1><a href="#">{title}</a></h1><!--]-->
<div class="topic-category"><span><a href="#"><span>Support</span></a></span></div></div>{said}
<div class="more-topics"><h3>Related topics</h3><table><thead><tr><th>Topic</th><th>Replies</th><th>Views</th>
<th>Activity</th></tr></thead><tbody>{rows}</tbody></table></div></div>
<footer class="crawler-nav">{links(["Home", "Categories", "Guidelines", "Terms of Service", "Privacy Policy"])}
<p>Powered by <a href="#">Discourse</a>, best viewed with JavaScript enabled</p></footer>""")


def phpbb(prose, posts):
    """A topic of phpBB, style prosilver: profiles beside posts, signatures."""
    title = prose.title()
    said = "".join(
        f'<div id="p{n}" class="post bg{n % 2 + 1}"><div class="inner"><dl class="postprofile"><dt class="has-avatar">'
        f'<div class="avatar-container"><a href="#"><img class="avatar" src="/{n}.png" alt="User avatar"></a></div>'
        f'<a href="#" class="username">member{n}</a></dt><dd class="profile-rank">Regular</dd><dd class="profile-posts">'
        f'<strong>Posts:</strong> <a href="#">{n * 17}</a></dd><dd class="profile-joined"><strong>Joined:</strong> Sun Mar '
        f'{n + 1}, 2020 4:1{n % 10} pm</dd><dd><strong>Location:</strong> Here</dd></dl><div class="postbody"><h3><a href="#">Re: '
        f'{title}</a></h3><ul class="post-buttons"><li><a href="#"><i></i><span>Quote</span></a></li><li><a href="#"><i></i>'
        f'<span>Report</span></a></li></ul><p class="author"><a href="#"><i></i><span>Post</span></a><span>by <strong>'
        f'<a href="#">member{n}</a></strong> &raquo; </span><time>Mon May {n + 1}, 2025 7:0{n % 10} am</time></p>'
        f'<div class="content"><!--[-->{html.escape(prose.one())}<br><br>{html.escape(prose.one())}<!--]--></div>'
        f'<div class="signature">{prose.sentence(9)}</div></div><div class="back2top"><a href="#top">Top</a></div></div></div><hr>'
        for n in range(posts)
    )
    return page(title, f"""
<div id="wrap"><div id="page-header"><div class="headerbar"><a id="logo" href="/"></a><h1>A board</h1><p>{prose.sentence(8)}</p>
<p><a href="#">Skip to content</a></p></div><div class="navbar">{links(["Quick links", "FAQ", "Register", "Login"])}
{links(["Board index", "General", "Discussion"])}</div></div><div id="page-body"><h2 class="topic-title"><a href="#">
{title}</a></h2><div class="action-bar"><a href="#" class="button">Post Reply</a><form><input type="search"><button>Search
</button></form><div class="pagination">{posts} posts &bull; Page <strong>1</strong> of <strong>1</strong></div></div>{said}
<div class="jumpbox"><span>Jump to</span>{links(["General", "Discussion", "Help", "Off topic", "Archive"])}</div>
<div class="stat-block"><h3>Who is online</h3><p>Users browsing this forum: No registered users and 3 guests</p></div></div>
<div id="page-footer">{links(["Board index", "Contact us", "Delete cookies", "All times are UTC"])}<div class="copyright"><p>Powered
by <a href="#">phpBB</a>&reg; Forum Software &copy; phpBB Limited</p></div></div></div>""")


def questions(prose, answers):
    """A question and its answers, as on Stack Exchange."""
    title = prose.title()

    def post(n, kind):
        votes = f'<div class="votecell"><button>Up</button><div itemprop="upvoteCount">{n * 3}</div><button>Down</button></div>'
        comments = "".join(
            f'<li class="comment"><div class="comment-score"><span>{c}</span></div><div class="comment-body"><!--[--><span '
            f'class="comment-copy">{prose.sentence(16)}</span><!--]-->&nbsp;&ndash; <a class="comment-user" href="#">u{c}</a>'
            f'<span class="comment-date"><a href="#"><span>May {c + 1} at 10:0{c}</span></a></span></div></li>'
            for c in range(2)
        )
        card = ('<div class="user-info"><div>answered <span>May 2, 2025 at 11:11</span></div><a href="#"><img src="/u.png" alt="">'
                '</a><div class="user-details"><a href="#">somebody</a><div><span>1,234</span><span>5</span><span>6 bronze badges'
                "</span></div></div></div>")
        return (f'<div class="{kind}"><div class="post-layout">{votes}<div class="postcell"><div class="s-prose">'
                f"<!--[-->{prose.p(2, 2)}<pre><code>cento search index.idx essay.txt</code></pre>{prose.p(1)}<!--]--></div>"
                f'<div class="mt24">{links(["Share", "Improve this answer", "Follow"])}{card}</div></div>'
                f'<div class="comments"><ul>{comments}</ul><a href="#">Add a comment</a></div></div></div>')

    said = "".join(post(n + 1, "answer") for n in range(answers))
    side = "".join(f'<div class="spacer"><a href="#"><div>{n}</div></a><a href="#">{prose.title()}</a></div>' for n in range(8))
    return page(title, f"""
<header class="s-topbar"><a href="/">Questions</a>{links(["Products", "About", "Log in", "Sign up"])}</header>
<div class="container"><div id="left-sidebar">{links(["Home", "Questions", "Tags", "Users", "Unanswered"])}</div><div id="content">
<div id="question-header"><!--[--><h1><a href="#">{title}</a></h1><!--]--><a href="#">Ask Question</a></div><div class="meta"><div>
<span>Asked</span> <time>1 year ago</time></div><div><span>Viewed</span> 2k times</div></div><div id="mainbar">{post(5, "question")}
<h2>{answers} Answers</h2>{said}<h2>Your Answer</h2><form><textarea></textarea><button>Post Your Answer</button><p>By clicking you agree
to our <a href="#">terms of service</a>.</p></form></div><div id="sidebar"><h4>Related</h4>{side}</div></div></div>
<footer>{links(["Blog", "Facebook", "Twitter", "LinkedIn", "Instagram", "Legal", "Cookie Settings"])}</footer>""")


def cards(prose, count, price):
    return "".join(
        f'<li class="grid__item"><div class="card"><div class="card__inner"><img src="/{n}.jpg" alt=""></div><div class='
        f'"card__content"><h3><a href="#">{prose.title()}</a></h3><div class="price"><span>Regular price</span><span>{price}{n}.00'
        f'</span></div><button>Add to cart</button></div></div></li>'
        for n in range(count)
    )


def shopify(prose, reviews):
    """A product of Shopify, theme Dawn."""
    title = prose.title()
    said = "".join(
        f'<div class="review"><div class="stars"><i></i><i></i><i></i><i></i></div><h4>{prose.title()}</h4><span>Buyer {n} on <strong>'
        f"May {n + 1}, 2025</strong></span><p>{prose.sentence(30)}</p><a href=\"#\">Report as Inappropriate</a></div>"
        for n in range(reviews)
    )
    return page(title, f"""
<div class="announcement-bar"><p>Free shipping on orders over $50</p></div><header class="header"><a href="/">A shop</a><nav>
{links(["Shop all", "New", "Sale", "About us", "Contact", "Log in"])}</nav><a href="/cart"><span>Cart</span></a></header>
<main id="MainContent"><section class="product"><div class="product__media"><ul><li><img src="/1.jpg" alt=""></li><li><img src="/2.jpg"
alt=""></li></ul></div><div class="product__info"><p class="vendor">Maker</p><!--[--><h1>{title}</h1><!--]--><div class="price"><span>
Regular price</span> <span>$49.00 USD</span></div><form><fieldset><legend>Size</legend><input type="radio"><label>S</label><input
type="radio"><label>M</label><input type="radio"><label>L</label></fieldset><label>Quantity</label><input value="1"><button><span>Add to
cart</span></button><button>Buy it now</button></form><div class="product__description rte"><!--[-->{prose.p(3)}<ul><li>{prose.sentence(9)}
</li><li>{prose.sentence(8)}</li><li>{prose.sentence(10)}</li></ul>{prose.p(1)}<!--]--></div><details><summary><h2>Shipping and returns</h2>
</summary><p>{prose.sentence(15)}</p></details><button>Share</button></div></section><section class="reviews"><h2>Customer Reviews</h2>{said}
</section><section><h2>You may also like</h2><ul class="grid">{cards(prose, 4, "$3")}</ul></section></main>
<footer><h2>Quick links</h2>{links(["Search", "Shipping", "Refund policy", "Terms of service"])}<form><h2>Subscribe to our emails</h2><input>
</form><small>&copy; 2025, A shop. <a href="#">Powered by Shopify</a></small></footer>""")


def woocommerce(prose):
    """A product of WooCommerce, theme Storefront: tabs and a table of properties."""
    title = prose.title()
    table = "".join(f'<tr><th>{name}</th><td><p><a href="#">{value}</a></p></td></tr>'
                    for name, value in [("Weight", "2 kg"), ("Size", "30 cm"), ("Color", "Blue"), ("Material", "Oak")])
    return page(title, f"""
<div id="page"><header id="masthead"><a href="/">Store</a><form><input type="search"><button>Search</button></form><nav>
{links(["Home", "Cart", "Checkout", "My account", "Shop"])}</nav><ul><li><a href="/cart"><span>$0.00</span> <span>0 items</span></a></li></ul>
</header><nav class="woocommerce-breadcrumb"><a href="/">Home</a> / <a href="#">Furniture</a> / {title}</nav><main><div class="product">
<span class="onsale">Sale!</span><div class="gallery"><img src="/1.jpg" alt=""></div><div class="summary entry-summary"><!--[--><h1>{title}
</h1><!--]--><p class="price"><del><span>$120.00</span></del> <ins><span>$99.00</span></ins></p><!--[--><div class="short-description"><p>
{prose.sentence(35)}</p></div><!--]--><form class="cart"><input value="1"><button>Add to cart</button></form><div class="product_meta"><span>
SKU: <span>A-17</span></span><span>Category: <a href="#">Furniture</a></span></div></div><div class="wc-tabs-wrapper">
{links(["Description", "Additional information", "Reviews (0)"])}<div class="panel"><!--[--><h2>Description</h2>{prose.p(4)}<!--]--></div>
<div class="panel"><h2>Additional information</h2><table>{table}</table></div><div class="panel"><h2>Reviews</h2><p>There are no reviews
yet.</p></div></div><section><h2>Related products</h2><ul>{cards(prose, 4, "$8")}</ul></section></div></main><aside>
{widget("Categories", links(["Furniture", "Lamps", "Rugs", "Sale"]))}</aside><footer>&copy; Store 2025 <a href="#">Built with WooCommerce</a>.
</footer></div>""")


def listing(prose):
    """A category of a shop: its text is two paragraphs above its products."""
    return page("Rugs", f"""
<header><a href="/">Store</a>{links(["Rugs", "Lamps", "Chairs", "Sale", "Account", "Basket"])}</header><main><!--[--><h1>Rugs of wool and
cotton</h1>{prose.p(2)}<!--]--><aside>{widget("Filter", links(["Wool", "Cotton", "Jute", "Under $50", "Round", "Large"]))}</aside>
<ul class="grid">{cards(prose, 12, "$2")}</ul><nav>{links(["1", "2", "3", "Next"])}</nav></main>
<footer>{links(["Help", "Returns", "Jobs", "Imprint"])}</footer>""")


def docusaurus(prose):
    """A page of documentation by Docusaurus: a tree of pages at the left, a table of contents at the right."""
    heads = [prose.title() for _ in range(4)]
    sections = "".join(
        f'<h2 class="anchor" id="s{n}">{head}<a href="#s{n}" class="hash-link" aria-label="Direct link">\u200b</a></h2>{prose.p(2)}'
        f'<div class="codeBlockContainer"><div class="codeBlockContent"><pre><code><span class="token-line"><span class="token plain">'
        f"npm install --save package-{n}</span><br></span></code></pre><div class=\"buttonGroup\"><button>Copy</button></div></div></div>"
        for n, head in enumerate(heads)
    )
    tree = "".join(
        f'<li class="theme-doc-sidebar-item-category"><div class="menu__list-item-collapsible"><a class="menu__link" href="#">{name}</a>'
        f"</div>{links([prose.title() for _ in range(4)], 'theme-doc-sidebar-item-link')}</li>"
        for name in ["Introduction", "Guides", "Advanced", "API"]
    )
    return page(heads[0], f"""
<div id="__docusaurus"><nav class="navbar"><a class="navbar__brand" href="/"><b>Project</b></a>{links(["Docs", "API", "Blog", "GitHub"])}
<button>Search</button></nav><div class="docs-wrapper"><aside><nav><ul class="menu__list">{tree}</ul></nav></aside><main><article><nav>
{links(["Home", "Guides"])}</nav><div class="theme-doc-markdown markdown"><!--[--><header><h1>{prose.title()}</h1></header>{prose.p(2)}{sections}
<!--]--></div><footer><a href="#">Edit this page</a><span>Last updated on <b>May 1, 2025</b></span></footer></article><nav class="pagination-nav">
<a href="#"><div>Previous</div><div>{prose.title()}</div></a><a href="#"><div>Next</div><div>{prose.title()}</div></a></nav></main>
<div class="tableOfContents">{links(heads)}</div></div><footer>{links(["Tutorial", "Stack Overflow", "Discord", "Blog"])}<div>Copyright
&copy; 2025 Project. Built with Docusaurus.</div></footer></div>""")


def sphinx(prose):
    """A page of documentation by Sphinx, theme Read the Docs, with the description of functions."""
    functions = "".join(
        f'<dl class="py function"><dt class="sig sig-object py"><span class="sig-prename"><span class="pre">mod.</span></span><span '
        f'class="sig-name"><span class="pre">function{n}</span></span><span class="sig-paren">(</span><em class="sig-param"><span><span '
        f'class="pre">x</span></span></em><span class="sig-paren">)</span><a class="headerlink" href="#">\u00b6</a></dt><dd>{prose.p(1)}'
        f'<dl class="field-list"><dt>Parameters</dt><dd><p><strong>x</strong> &ndash; {prose.sentence(12)}</p></dd></dl></dd></dl>'
        for n in range(4)
    )
    toc = links([prose.title() for _ in range(12)], "toctree-l1")
    return page("Module", f"""
<div class="wy-grid-for-nav"><nav class="wy-nav-side"><a href="/">Project</a><form><input placeholder="Search docs"></form><p class="caption">
<span>Contents:</span></p>{toc}</nav><section class="wy-nav-content-wrap"><ul class="wy-breadcrumbs"><li><a href="#">Docs</a></li><li>Module</li>
<li><a href="#">View page source</a></li></ul><div role="main"><!--[--><section id="module"><h1>Module<a class="headerlink" href="#">\u00b6</a></h1>
{prose.p(3)}{functions}</section><!--]--></div><footer><div>{links(["Previous", "Next"])}</div><p>&copy; Copyright 2025.</p>Built with
<a href="#">Sphinx</a> using a <a href="#">theme</a>.</footer></section></div>""")


def made(prose):
    yield "wordpress-comments", "blog", wordpress(prose, 6, 6)
    yield "wordpress-short", "blog", wordpress(prose, 0, 3)
    yield "ghost", "blog", ghost(prose)
    yield "jekyll", "blog", jekyll(prose)
    yield "discourse-long", "forum", discourse(prose, 8)
    yield "discourse-short", "forum", discourse(prose, 3)
    yield "phpbb", "forum", phpbb(prose, 6)
    yield "questions", "forum", questions(prose, 3)
    yield "shopify-reviews", "shop", shopify(prose, 5)
    yield "shopify", "shop", shopify(prose, 0)
    yield "woocommerce", "shop", woocommerce(prose)
    yield "listing", "shop", listing(prose)
    yield "docusaurus", "documentation", docusaurus(prose)
    yield "sphinx", "documentation", sphinx(prose)


# The content of real pages, by the name of the system: where it starts, and which parts of it do not count.
REAL = {
    "mdbook": (lambda tag, _: tag == "main", lambda tag, a: "buttons" in (a.get("class") or "")),
    "rustdoc": (lambda _, a: a.get("id") == "main-content",
                lambda tag, a: tag in ("button", "rustdoc-toolbar", "rustdoc-search") or "out-of-band" in (a.get("class") or "")
                or "src" in (a.get("class") or "").split() or "rustdoc-breadcrumbs" in (a.get("class") or "")),
    "plain": (lambda tag, _: tag == "body", lambda tag, a: "navheader" in (a.get("class") or "")
              or "navfooter" in (a.get("class") or "")),
}


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--real") if "--real" in arguments else len(arguments)
    paths, real = arguments[:at], arguments[at + 1:]
    pages = ((name, kind, False, text, content(text)) for name, kind, text in made(Prose(paths)))
    reals = []
    for argument in real:
        system, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        starts, skips = REAL[system]
        reals.append((path.split("/html/")[-1], "documentation", True, text, content(text, starts=starts, skips=skips)))
    for name, kind, is_real, text, article in itertools.chain(pages, reals):
        print(json.dumps({"id": name, "kind": kind, "is_real": is_real, "html": text, "article": article}))


if __name__ == "__main__":
    main()
