use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(text_of(source), expected);
}

#[test]
fn notes_of_an_edition_are_not_in_the_sentence() {
    check(
        "A \\edtext{stable \\emph{gate}}{\\lemma{stable}\\Afootnote{om. B}} was\\marginnote{x} so.",
        "A stable gate was so. stableom. B x",
    );
}

#[test]
fn commands_go_and_text_stays_on_its_lines() {
    check("\\section*{One}\\label{sec:one}\nis \\emph{tw}o~three.\n", "One\nis two three.\n");
    check("a % comment\nb 50\\% c", "a \nb 50% c");
    check("see \\cite[p.~3]{Knuth} and \\parencite{x}.", "see  and .");
    check(
        "\\documentclass{a}\n\\title{T}\n\\begin{document}\nx\n\\end{document}\ny\n",
        "\nT\n\nx\n\n\n",
    );
    check("\\begin{tabular}{l|r}\na & b\\\\\n\\end{tabular}", "\na   b \n");
    check("\\begin{verbatim}\n\\a{b} % c\n\\end{verbatim}", "\n\\a{b} % c\n");
    check("\\verb|a\\b| c \\href{http://x.org}{here}", "a\\b c here");
    check("$x_{i}^2 = \\alpha$", "x i 2 = ");
    check("\\newcommand{\\x}[1]{y\n#1}z", "\nz");
    check("hy\\-phen ``quoted''", "hyphen \"quoted\"");
    check("\\begin{comment}\na\n\\end{comment}b", "\n\nb");
    check("a\\phantom{hidden} b", "a b");
}

#[test]
fn brackets_that_are_no_options_are_text() {
    // Half-open intervals are not options, and the text between intervals is not, either.
    check(
        "for $x\\in[0,1)$. The tide turned at four. For $x\\in(1,2]$ too",
        "for x[0,1). The tide turned at four. For x(1,2] too",
    );
    check("$\\left[ 7x + 5y \\right]$ \\[\\max[a=b]{c}\\]", "[ 7x + 5y ]  [a=b]c ");
    check("\\noindent[a remark of mine] \\alpha[t] b", "[a remark of mine] [t] b");
    check("\\item[Harding] one \\item two", "[Harding] one  two");
    check("\\begin{theorem}[Pythagoras] a", "[Pythagoras] a");
    check("\\cite{x}[a remark] \\end{itemize}[b]", "[a remark] [b]");
    check("\\emph{a [b} c] \\textbf[d{e}] f", "a [b c] [de] f");
    check("a \\\\ [b] \\\\[c, d] e", "a   [b]  [c, d] e");
    // Long or unclosed brackets must not hide prose.
    let prose = "the tide in the harbour turned at four, and by five the boats came in ";
    check(&format!("\\section[{prose}{prose}]{{A}}"), &format!("[{prose}{prose}]A"));
    check("\\section[a\n\nb]{c}", "[a\n\nb]c");
    check("\\footnote[see $x]$ b", "[see x] b");
}

#[test]
fn options_and_short_titles_go() {
    check("\\section[On $[0,1)$]{On an interval}", "On an interval");
    check("\\caption[Short]{Long}\\footnote[3]{x}", "Long x");
    check("\\begin{figure}[!htb]\n\\includegraphics[width=.5\\textwidth]{a}", "\n");
    check("\\begin{tabular}[t]{ll}a\\\\[2pt]b\\\\*[-1ex]c", "a b c");
    check("\\begin{enumerate}[label=(\\alph*)]\n\\item a", "\n a");
    check("\\begin{tikzpicture}[scale=2]\\draw[->, thick] (0,0);", " ");
    check("\\usepackage[utf8,\nenglish]{b}\\mybox[color=red]{c}\\parbox[t][2cm]{3cm}{d}", "\ncd");
    check("\\newcommand{\\x}[2][y]{#1}\\newcommand*{\\y}{z}a", "a");
    check("\\autocite[see][p.~3]{x}b\\begin{minted}[linenos]{C}", "b{C}");
}

#[test]
fn primes_in_formulas_are_no_quotation_marks() {
    check("$f''(x)$ ``and'' $$g''$$ \\(h''\\) a''", "f''(x) \"and\" g''  h''  a\"");
    check("\\begin{align*}f''&=1\\end{align*}''", "f'' =1\"");
    check("$a$$b$''", "ab\"");
    // A stray dollar sign has no effect beyond its paragraph.
    check("5$ ''\n \n``a''", "5 ''\n \n\"a\"");
}

#[test]
fn notes_come_after_their_paragraph() {
    check(
        "A stable\\footnote{See \\emph{there}, p. 3.} left;\nothers\\thanks{b}.\n\nMore.\n",
        "A stable left;\nothers.\nSee there, p. 3. b\nMore.\n",
    );
    check("a\\footnote{b\nc} d", "a\n d b c");
    check("a\\footnote{b\n\nc} d\n\n", "a\n\n d\nb c\n");
    check("a\\footnote{b", "ab");
    check("{\\footnote{a {b}\\footnote{c}} d}", " d c a b");
}

#[test]
fn macros_without_arguments_are_their_texts() {
    check(
        "\\newcommand{\\firm}{Acme Ltd}\\begin{document}The board of \\firm{} met in \\firm.",
        "The board of Acme Ltd met in Acme Ltd.",
    );
    check("\\newcommand{\\x}[1]{y}\\x{a}", "y");
}

#[test]
fn a_definition_with_commands_of_latex_itself_is_layout() {
    check(
        "\\renewcommand\\section{\\@startsection{section}{1}{\\z@}{2ex}{\\large\\bf}}\
         \\def\\x{\\p@\\relax}\\newcommand{\\y}{NASA\\@}\\newcommand{\\z}{a@b.org}\
         \\begin{document}\\section{One} \\x \\y, \\z",
        "One  NASA , a@b.org",
    );
}

#[test]
fn accents_become_letters() {
    check("caf\\'e \\\"{o}l na\\\"\\i ve \\c{c}a", "cafe\u{301} o\u{308}l nai\u{308}ve c\u{327}a");
    check("Stra\\ss e, \\o{}re, \\v{s}", "Stra\u{df}e, \u{f8}re, s\u{30c}");
}

#[test]
fn an_unfinished_command_is_text() {
    check("\\cite{a\n\nb", "a\n\nb");
    check("\\verb|a\nb", "|a\nb");
    check("\\begin{verbatim} a", " a");
    check("\\", "");
    check("\\begin{a\n}", "a\n");
    let long = "\\cite{".repeat(100_000);
    assert!(text_of(&long).is_empty());
}

proptest! {
    #[test]
    fn every_line_stays_a_line(source in concat!(
        "(\\\\begin\\{verbatim\\}|\\\\begin\\{frame\\}|\\\\(deleted|replaced|section)\\{",
        "|\\\\(iffalse|fi|input|vskip|rule)|<1>|1pt|\"|",
        "\\\\(begin|end)\\{(document|tikzpicture)\\}|\\\\title|\\\\endinput|#1|",
        "\\\\newcommand\\{\\\\a\\}\\[1\\]|",
        "\\^|\\\\cite|\\\\footnote\\{|\\\\def\\\\a|\\\\'|\\\\[a-c]|[a-d{}\\[\\]%$&~\n ]){0,40}",
    )) {
        let lines = |text: &str| text.matches('\n').count();
        prop_assert_eq!(lines(&text_of(&source)), lines(&source), "{:?}", source);
    }
}

#[test]
fn commands_between_words_do_not_join_them() {
    check(
        "fourth\\section{Five}Six\\begin{center}seven\\end{center}eight\\par nine\\newline ten",
        "fourth Five Six seven eight nine ten",
    );
    check("a\\vspace{2cm}b\\hspace{1em}c\\item d\\quad\\emph{e}.\\hfill, f", "a b c d e., f");
    check("break\\hspace{0pt}able \\emph{wo}rd \\textbf{A}nn", "breakable word Ann");
    check("\\title{A}\\author{B}\\maketitle\\begin{abstract}C", "A B C");
    check("\\section{A\\footnote{b}}C\n\nd", "A C\nb\nd");
}

#[test]
fn slides_lengths_and_names_of_files_are_no_text() {
    check("\\item<1-> one \\only<2>{only} \\begin{itemize}<+->\\textbf<3>{b}", " one only b");
    check("\\begin{frame}<1>[fragile]{Title}text\\end{frame}", "Title text");
    check("if $a\\alpha<2>1$ or \\emph<b>", "if a<2>1 or <b>");
    check("\\vskip 2pt plus 1fil a\\parindent=0pt\n\\setlength\\parskip{1ex}b", "a\nb");
    check("\\rule{1pt}{2pt}a \\begin{wrapfigure}{r}{2cm}b \\captionof{figure}[s]{c}", "a b c");
    check("a\n\\input ch1\n\\import{./}{ch2}\\includepdf[pages=-]{b.pdf}c", "a\n\nc");
    check("\\lstinputlisting{x.c}\\InputIfFileExists{ch4}{}{}\\input{d} \\input e.tex", " ");
}

#[test]
fn commands_for_signs_are_the_signs() {
    check(
        "\\textquotedblleft q\\textquotedblright\\ 1\\textendash 2",
        "\u{201c}q\u{201d} 1\u{2013}2",
    );
    check("na\\\"\\i ve na\\\"{\\i}ve \\\"\\item", "nai\u{308}ve nai\u{308}ve ");
    check("\\LaTeX{} at 20\\textdegree", "LaTeX at 20\u{b0}");
    check("\\newcommand{\\S}{Saint}\\begin{document}\\S{} Ann", "Saint Ann");
}

#[test]
fn labels_addresses_and_measures_are_no_text() {
    check("by \\olref[sec]{lem:a} and \\secref{b}, \\ollabel{c}\\hyperref[d]{e}", "by  and , e");
    check("at \\urlref{http://x.org}{a page} {https://y.org}{b}", "at a page b");
    check("\\begin{textblock}{14}(1,12.5)a\\begin{block*}{5cm}(0pt,1cm)b", "a b");
    check("\\begin{proof}(see 2, 3) a \\begin{x}{2}", "(see 2, 3) a 2");
    check("a \\def\\x#1{b #1}\\edef\\y{c}d \\newtheorem{thm}[b]{Theorem}", "a d ");
}

#[test]
fn shown_addresses_are_text() {
    check("\\url{http://x.org/a_b%20c#d} a", "http://x.org/a_b%20c#d a");
    check("a\\footnote{\\url{x.org/~b}} c", "a c x.org/~b");
}

#[test]
fn terms_of_a_glossary_and_hyphens_are_text() {
    check("an \\gls{UML} diagram of \\Glspl{artifact}.", "an UML diagram of artifacts.");
    check("\\newacronym{uml}{UML}{a language}", "UMLa language");
    check("text\\hyp{}reuse and\\fshyp or", "text-reuse and/or");
}

#[test]
fn only_text_in_braces_is_text_of_a_drawing() {
    check(
        "a\\begin{tikzpicture}[x=1cm]\n\\draw (0,0) to node[above] {the \\emph{sea}} (1,1);\n\
         \\node (b) at (a.east) {rises};\\end{tikzpicture}b [c]",
        "a\n    the sea \n    rises b [c]",
    );
}

#[test]
fn deleted_text_and_remarks_are_no_text() {
    check("a \\deleted[id=x]{b}\\added{c} \\sout{d}e\\todo[inline]{f {g}}", "a c e");
    check("\\replaced{new}{old} and \\replaced{new}", "new and new");
    check(
        "the \\DIFdelbegin \\DIFdel{ocean {\\bf\ngoes}}\\DIFdelend \\DIFaddbegin \\DIFadd{sea}",
        "the \n  sea",
    );
    check("a\\iffalse b\\footnote{c}\n\nd\\fi e\\footnote{f}\n\n", "a\n\n e\nf\n");
    check("\\iffalse a\\else b\\fi \\deleted{c", " b c");
}
