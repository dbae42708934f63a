package arch

import (
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// banned are phrases that a reader has to decode, each with plain words for it.
var banned = []struct {
	phrase *regexp.Regexp
	plain  string
}{
	{regexp.MustCompile(`(?i)\b(tells?|told) (whether|if|what|which|how)\b`), "reports whether, returns"},
	{regexp.MustCompile(`(?i)\b(gives?|gave)\b`), "returns, sets, passes"},
	{regexp.MustCompile(`(?i)\b(whoever|nobody|somebody)\b`), "the caller, no process, another request"},
	{regexp.MustCompile(`(?i)\bis had\b`), "has"},
	{regexp.MustCompile(`(?i)\b(hears?|heard) (of|from|about)\b`), "receives, is notified"},
	{regexp.MustCompile(`(?i)\bknows? of\b`), "has, stores"},
}

// unpolished are the paths to which A10 does not apply: migrations, because one that has run never changes.
var unpolished = []string{"internal/sqldb/migrations/"}

// phrases checks A10: comments, texts in code and documents are written in plain terms.
func (tr tree) phrases(f file, unpolished []string) []finding {
	if slices.ContainsFunc(unpolished, func(p string) bool { return strings.HasPrefix(f.path, p) }) {
		return nil
	}
	var found []finding
	for _, l := range tr.prose(f) {
		for _, b := range banned {
			if m := b.phrase.FindString(l.text); m != "" {
				found = append(found, finding{f.path, l.number, "A10", "\"" + m + "\" is not plain: " + b.plain})
			}
		}
	}
	return found
}

var (
	failures  = []string{"Error", "Errorf", "Fatal", "Fatalf", "Logf"}
	verb      = regexp.MustCompile(`%[-+# 0]*[0-9*]*(\.[0-9*]+)?(\[\d+\])?[a-zA-Z%]`)
	escape    = regexp.MustCompile(`\\[nt]`)
	anyLetter = regexp.MustCompile(`\pL`)
)

// messages checks A10: a message of a test with verbs also has words. A failure such as "3, <nil>" says neither what
// was called nor what was wanted.
func (tr tree) messages(f file) []finding {
	var found []finding
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(failures, s.Sel.Name) {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "fmt" {
			return true
		}
		l, ok := call.Args[0].(*ast.BasicLit)
		if !ok || !verb.MatchString(l.Value) {
			return true
		}
		if text := verb.ReplaceAllString(escape.ReplaceAllString(l.Value, ""), ""); !anyLetter.MatchString(text) {
			found = append(found, finding{f.path, tr.line(l.Pos()), "A10", "the message " + l.Value + " has no words"})
		}
		return true
	})
	return found
}

type proseLine struct {
	number int
	text   string
}

// commentStart begins a comment line of SQL, Lua, TypeScript or Vue.
var commentStart = regexp.MustCompile(`(^|\s)(--|//|\*|<!--)\s(.*)$`)

// prose returns the text for readers of a file: the comments and sentences of code, all of a document except its blocks
// of code. A string with a space is a sentence: a message, a help text, or the name of a case. Other strings are data.
func (tr tree) prose(f file) []proseLine {
	var all []proseLine
	add := func(first int, text string) {
		for i, line := range strings.Split(text, "\n") {
			all = append(all, proseLine{first + i, line})
		}
	}
	switch ending := path.Ext(f.path); {
	case f.ast != nil:
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				add(tr.line(c.Pos()), c.Text)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && strings.Contains(l.Value, " ") && f.pkg() != "arch" { // which lists the phrases
				add(tr.line(l.Pos()), l.Value)
			}
			return true
		})
	case ending == ".md":
		code := false
		for i, line := range strings.Split(f.text, "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if !code {
				add(i+1, line)
			}
		}
	case slices.Contains([]string{".sql", ".lua", ".ts", ".vue"}, ending):
		for i, line := range strings.Split(f.text, "\n") {
			if m := commentStart.FindStringSubmatch(line); m != nil {
				add(i+1, m[3])
			}
		}
	}
	return all
}

var (
	mentioned = regexp.MustCompile("`([^`]+)`")
	symbol    = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?(?:\(\))?$`)
	place     = regexp.MustCompile(`^(?:cmd|internal|docs|web|deploy|compat|\.ci)/[\w./-]*\w$`)
	goFile    = regexp.MustCompile(`\b[a-z][\w/]*\.go\b`)
)

// built are folders that documents name and that exist only after a build.
var built = []string{"internal/web/dist", "web/screenshots"}

// mentions checks A11: the symbols and paths in backquotes in a document exist, and so do the Go files that a package's
// comment names.
func (tr tree) mentions(root fs.FS) []finding {
	symbols, packages := tr.symbols()
	var found []finding
	for _, f := range tr.files {
		switch {
		case f.ast != nil && f.ast.Doc != nil:
			for _, name := range goFile.FindAllString(f.ast.Doc.Text(), -1) {
				if !tr.has(path.Join(path.Dir(f.path), name)) && !tr.has(name) {
					found = append(found, finding{f.path, tr.line(f.ast.Doc.Pos()), "A11", "there is no file " + name})
				}
			}
		case strings.HasSuffix(f.path, ".md") && f.path != "CHANGELOG.md": // which speaks of earlier releases
			for _, l := range tr.prose(f) {
				for _, m := range mentioned.FindAllStringSubmatch(l.text, -1) {
					switch s := symbol.FindStringSubmatch(m[1]); {
					case s != nil && packages[s[1]] && !symbols[s[1]+"."+s[2]]:
						found = append(found, finding{f.path, l.number, "A11", "there is no " + m[1]})
					case place.MatchString(m[1]) && !slices.Contains(built, m[1]):
						if _, err := fs.Stat(root, m[1]); err != nil {
							found = append(found, finding{f.path, l.number, "A11", "there is no " + m[1]})
						}
					}
				}
			}
		}
	}
	return found
}

func (tr tree) has(name string) bool {
	return slices.ContainsFunc(tr.files, func(f file) bool { return f.path == name })
}

// symbols returns the names that packages declare, each after the last element of the package's path, and those
// elements.
func (tr tree) symbols() (declared, packages map[string]bool) {
	declared, packages = map[string]bool{}, map[string]bool{}
	for _, f := range tr.files {
		if f.ast == nil {
			continue
		}
		pkg := path.Base(f.pkg())
		packages[pkg] = true
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[pkg+"."+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						declared[pkg+"."+s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							declared[pkg+"."+n.Name] = true
						}
					}
				}
			}
		}
	}
	return declared, packages
}
