//! The place of a text in a page: in a link, in a menu, in an article.

use html5gum::StartTag;

use super::hidden::VOID;
use super::outermost::Outermost;

/// Elements beside the content: menus, side remarks, footers, controls. A `form` counts as content,
/// because some sites wrap whole pages in a form.
const BESIDE: [&[u8]; 7] = [b"aside", b"button", b"dialog", b"footer", b"menu", b"nav", b"select"];

/// ARIA roles with the same meaning as the elements.
const ROLES: [&[u8]; 4] = [b"complementary", b"contentinfo", b"navigation", b"search"];

/// The place of a text in a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlaceInPage {
    /// In the title, which the page does not display.
    pub is_title: bool,
    /// In a link, as most words of menus are.
    pub is_link: bool,
    /// Raised above the line.
    pub is_raised: bool,
    /// In a link whose target is a note.
    pub is_note: bool,
    /// In an element beside the content.
    pub is_beside: bool,
    /// The number of the outermost enclosing `article`.
    pub article: Option<usize>,
    /// The number of the outermost enclosing `main`, or element with this role.
    pub main: Option<usize>,
    /// The number of the innermost enclosing container.
    pub container: Option<usize>,
    /// The number of the innermost enclosing `blockquote`, if it is a quotation.
    pub block_quote: Option<usize>,
}

/// Elements that hold paragraphs, and whose end tags are rarely left out.
const CONTAINERS: [&[u8]; 8] =
    [b"article", b"body", b"div", b"main", b"table", b"td", b"th", b"tr"];

/// How many open containers are searched when an end tag closes a container. Bounds the work for
/// deep nesting.
const CONTAINER_DEPTH_MAX: usize = 64;

/// Follows the tags of a page.
#[derive(Default)]
pub struct Places {
    now: PlaceInPage,
    beside: Option<Outermost<usize>>,
    article: Option<Outermost<usize>>,
    main: Option<Outermost<usize>>,
    /// The open containers with their numbers, innermost last.
    containers: Vec<(&'static [u8], usize)>,
    /// Counts elements, to number articles.
    count: usize,
}

impl Places {
    /// Returns the place of a text here.
    pub fn now(&self) -> PlaceInPage {
        self.now
    }

    /// Returns the first piece of an element beside the content that never ends. The caller then
    /// ignores the element, because it would swallow the remaining page.
    pub fn endless(&self) -> Option<usize> {
        self.beside.as_ref().map(|element| element.from)
    }

    /// Takes a start tag, before the piece of this number.
    pub fn start<S: html5gum::SpanBound>(&mut self, tag: &StartTag<S>, piece: usize) {
        let name = tag.name.as_slice();
        let has = |attribute: &[u8]| tag.attributes.contains_key(attribute);
        match name {
            b"title" => self.now.is_title = true,
            // Other `a` elements are targets of links, and often lack an end tag.
            b"a" => self.now.is_link = has(b"href") || !(has(b"name") || has(b"id")),
            _ => {}
        }
        if tag.self_closing || VOID.contains(&name) {
            return;
        }
        let role = tag.attributes.get(&b"role"[..]).map(|role| role.to_vec());
        let is_one = |roles: &[&[u8]]| role.as_deref().is_some_and(|role| roles.contains(&role));
        let is_beside = BESIDE.contains(&name) || is_one(&ROLES);
        let is_main = name == b"main" || is_one(&[b"main"]);
        Outermost::start(&mut self.beside, name, is_beside, piece);
        Outermost::start(&mut self.article, name, name == b"article", self.count);
        Outermost::start(&mut self.main, name, is_main, self.count);
        self.start_container(name);
        self.count += 1;
        self.update();
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &[u8]) {
        match name {
            b"title" => self.now.is_title = false,
            b"a" => self.now.is_link = false,
            _ => {}
        }
        for element in [&mut self.beside, &mut self.article, &mut self.main] {
            Outermost::end(element, name);
        }
        self.end_container(name);
        self.update();
    }

    fn start_container(&mut self, name: &[u8]) {
        let Some(name) = CONTAINERS.into_iter().find(|container| *container == name) else {
            return;
        };
        // A cell or a row ends where the next begins.
        let is_cell = |name: &[u8]| name == b"td" || name == b"th";
        if is_cell(name) || name == b"tr" {
            self.containers.pop_if(|(open, _)| is_cell(open));
            self.containers.pop_if(|(open, _)| name == b"tr" && *open == b"tr");
        }
        self.containers.push((name, self.count));
    }

    /// Closes the innermost container of this name, and everything open inside.
    fn end_container(&mut self, name: &[u8]) {
        let open = self.containers.iter().rev().take(CONTAINER_DEPTH_MAX);
        if let Some(inner) = open.into_iter().position(|(open, _)| *open == name) {
            self.containers.truncate(self.containers.len() - inner - 1);
        }
    }

    fn update(&mut self) {
        self.now.is_beside = self.beside.is_some();
        self.now.article = self.article.as_ref().map(|element| element.from);
        self.now.main = self.main.as_ref().map(|element| element.from);
        self.now.container = self.containers.last().map(|(_, number)| *number);
    }
}
