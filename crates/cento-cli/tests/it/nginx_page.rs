//! The web page behind a real nginx, under a path, in a real browser.

use crate::browser::Browser;
use crate::common::nginx::Nginx;
use crate::common::run::indexed;
use crate::common::service::Service;
use crate::common::words;

#[test]
#[ignore = "needs nginx, chromium and chromedriver"]
fn the_page_works_behind_a_proxy_under_a_path() {
    let dir = indexed();
    dir.write("tokens", "read reader reader-0123456789\n");
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let nginx = Nginx::start(service.address());
    let browser = Browser::start();
    browser.open(&nginx.url);
    browser.wait_for("return !document.querySelector('#token-form').hidden");
    browser.type_into("#token", "reader-0123456789");
    browser.click("#token-save");
    browser.wait_for("return document.querySelector('#stats').textContent.includes('3 documents')");
    let address = browser.run("return location.pathname");
    assert_eq!(address, "/cento/");
    browser.type_into("#search-text", &words(1, 60));
    browser.click("#search-run");
    browser.wait_for("return document.querySelectorAll('.span-panel .choose').length === 2");
    // A service under a different path of the host does not get the token.
    let kept = browser.run("return Object.keys(sessionStorage).join()");
    assert_eq!(kept, "cento-token /cento/");
}
