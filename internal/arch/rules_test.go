package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// finding is one violation of a rule.
type finding struct {
	file string
	line int
	rule string
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.rule, f.text) }

// limits are the maximum numbers of lines of a file (A5), the paths to which the phrases of A10 do not apply, and the
// maximum numbers of files and of lines of code on the path of an order (A15).
type limits struct {
	code, test, lua      int
	unpolished           []string
	pathFiles, pathLines int
}

const (
	architecture = "docs/ARCHITECTURE.md"
	module       = "comanda/"
)

// check applies every rule and returns the findings in the order of files and lines.
func check(root fs.FS, tr tree, t *table, l limits) []finding {
	var found []finding
	covered := map[string]bool{}
	for _, f := range tr.files {
		found = append(found, f.long(l)...)
		found = append(found, f.todos()...)
		found = append(found, f.instants()...)
		found = append(found, tr.phrases(f, l.unpolished)...)
		if f.ast == nil {
			continue
		}
		found = append(found, tr.arrows(f, t, covered)...)
		found = append(found, tr.pure(f, t)...)
		found = append(found, tr.sleeps(f)...)
		found = append(found, tr.messages(f)...)
		found = append(found, tr.clocks(f, t)...)
	}
	found = append(found, tr.comments()...)
	found = append(found, tr.citedTests()...)
	found = append(found, tr.mentions(root)...)
	found = append(found, tr.statements()...)
	found = append(found, tr.types()...)
	found = append(found, tr.dependencies(root)...)
	found = append(found, tr.orderPath(l)...)
	for _, r := range t.rows {
		for _, name := range r.packages {
			if !covered[name] {
				found = append(found, finding{architecture, r.line, "A1", "there is no package " + name})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int {
		if a.file == b.file {
			return a.line - b.line
		}
		return strings.Compare(a.file, b.file)
	})
	return found
}

// arrows checks A1 and A2.
func (tr tree) arrows(f file, t *table, covered map[string]bool) []finding {
	var found []finding
	add := func(line int, rule, format string, args ...any) {
		found = append(found, finding{f.path, line, rule, fmt.Sprintf(format, args...)})
	}
	m, ok := t.find(f.pkg(), f.inTest())
	if !ok {
		add(tr.line(f.ast.Package), "A1", "the package %s has no row in %s", f.pkg(), architecture)
		return found
	}
	covered[m.name] = true
	for imported, line := range tr.imports(f) {
		target, ours := strings.CutPrefix(imported, module)
		target = strings.TrimPrefix(target, "internal/")
		switch {
		case ours && target != f.pkg() && !f.mayUse(t, m, target):
			add(line, "A1", "%s must not import %s (%s:%d)", f.who(), target, architecture, m.row.line)
		case !ours && strings.Contains(strings.Split(imported, "/")[0], ".") && !t.allowsOutside(m.row, imported):
			add(line, "A2", "%s must not import %s (%s:%d)", f.who(), imported, architecture, m.row.line)
		}
	}
	return found
}

// mayUse reports whether a row allows an import; tests may also use other test packages.
func (f file) mayUse(t *table, m match, target string) bool {
	return t.allows(m, target) || f.inTest() && testPackage(target)
}

func (f file) who() string {
	if f.inTest() {
		return "a test"
	}
	return f.pkg()
}

// outward are the packages of the standard library with which a process reaches files, networks and other processes.
var outward = []string{"net", "net/http", "os", "os/exec", "database/sql", "database/sql/driver", "syscall"}

// pure checks A3.
func (tr tree) pure(f file, t *table) []finding {
	if _, isContext := t.below[f.pkg()]; !isContext || f.inTest() {
		return nil
	}
	var found []finding
	for imported, line := range tr.imports(f) {
		if slices.Contains(outward, imported) {
			found = append(found, finding{f.path, line, "A3", "a context's root must not import " + imported})
		}
	}
	for _, name := range []string{"Now", "Since", "Until"} {
		for _, line := range tr.uses(f, "time", name) {
			found = append(found, finding{f.path, line, "A3", "a context takes the time as an argument; it does not call time." + name})
		}
	}
	return found
}

// ownClocks are the packages, besides tests, that read the machine's clocks, with the reason. All others receive a Now,
// and measure durations with clock.Stopwatch.
var ownClocks = map[string]string{
	"clock":      "it is the one that reads them for all others",
	"bench":      "it measures what it asks for by the machine that asks",
	"bench/load": "likewise",
	"sim":        "its servers play gateways, which have a clock of their own",
}

// clocks checks the first half of A9. Packages at the root of a context have a stricter rule, A3.
func (tr tree) clocks(f file, t *table) []finding {
	_, isContext := t.below[f.pkg()]
	if _, own := ownClocks[f.pkg()]; own || isContext || f.inTest() {
		return nil
	}
	var found []finding
	for _, name := range []string{"Now", "Since", "Until"} {
		for _, line := range tr.uses(f, "time", name) {
			found = append(found, finding{f.path, line, "A9", "package clock reads the time, not time." + name})
		}
	}
	return found
}

// instant is an option or a command of Redis that expires a key at an instant of Redis's own clock.
var instant = regexp.MustCompile(`\b(P?EXPIREAT|PXAT|EXAT)\b`)

// instants checks the second half of A9. Test files are exempt, because they only inspect commands.
func (f file) instants() []finding {
	if !strings.HasSuffix(f.path, ".lua") && (f.ast == nil || f.inTest()) {
		return nil
	}
	var found []finding
	for i, line := range strings.Split(f.text, "\n") {
		if m := instant.FindString(line); m != "" {
			found = append(found, finding{f.path, i + 1, "A9", "a key of Redis ends after a span; " + m + " takes an instant"})
		}
	}
	return found
}

// uses returns the lines that use pkg.name.
func (tr tree) uses(f file, pkg, name string) []int {
	var lines []int
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
				lines = append(lines, tr.line(s.Pos()))
			}
		}
		return true
	})
	return lines
}

// comments checks A4.
func (tr tree) comments() []finding {
	first, documented := map[string]file{}, map[string]bool{}
	for _, f := range tr.files {
		if f.ast == nil || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		pkg := path.Dir(f.path)
		if _, ok := first[pkg]; !ok {
			first[pkg] = f
		}
		documented[pkg] = documented[pkg] || sentence(f.ast)
	}
	var found []finding
	for pkg, f := range first {
		if !documented[pkg] {
			text := "the package's comment has no full sentence that begins with its name"
			found = append(found, finding{f.path, tr.line(f.ast.Package), "A4", text})
		}
	}
	return found
}

// sentence reports whether a file's package comment begins with the package's name and has at least five words up to its
// first full stop.
func sentence(f *ast.File) bool {
	text := f.Doc.Text()
	for _, start := range []string{"Package " + f.Name.Name + " ", "Command "} {
		first, _, ok := strings.Cut(text, ".")
		if strings.HasPrefix(text, start) && ok && len(strings.Fields(first)) >= 5 {
			return true
		}
	}
	return false
}

// long checks A5.
func (f file) long(l limits) []finding {
	most := 0
	switch {
	case strings.HasSuffix(f.path, "_test.go"):
		most = l.test
	case strings.HasSuffix(f.path, ".go"):
		most = l.code
	case strings.HasSuffix(f.path, ".lua"):
		most = l.lua
	}
	n := strings.Count(f.text, "\n")
	if most == 0 || n <= most {
		return nil
	}
	return []finding{{f.path, n, "A5", fmt.Sprintf("the file has %d lines; %d are the limit", n, most)}}
}

// The words are concatenated here, so that this file does not contain them.
var todo = regexp.MustCompile(`\b(` + "TO" + `DO|FIX` + `ME|HA` + `CK)\b`)

// todos checks A6.
func (f file) todos() []finding {
	var found []finding
	for i, line := range strings.Split(f.text, "\n") {
		if m := todo.FindString(line); m != "" {
			found = append(found, finding{f.path, i + 1, "A6", m})
		}
	}
	return found
}

// sleeps checks A7. Sleeping is allowed in a bubble of testing/synctest, where it takes no time, and skipping in a
// rapid test, where it drops one random case.
func (tr tree) sleeps(f file) []finding {
	if !f.inTest() || f.pkg() == "testenv" {
		return nil
	}
	var found []finding
	if _, bubbles := tr.imports(f)["testing/synctest"]; !bubbles {
		for _, line := range tr.uses(f, "time", "Sleep") {
			found = append(found, finding{f.path, line, "A7", "a test waits for a signal or with testenv.Eventually"})
		}
	}
	for _, name := range []string{"Skip", "Skipf", "SkipNow"} {
		for _, line := range tr.skips(f, name) {
			found = append(found, finding{f.path, line, "A7", "a test that is skipped proves nothing"})
		}
	}
	return found
}

// skips returns the lines that call a method of this name on a parameter of one of package testing's types.
func (tr tree) skips(f file, name string) []int {
	var lines []int
	var within []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			within = within[:len(within)-1]
			return true
		}
		within = append(within, n)
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			if x, ok := s.X.(*ast.Ident); ok && strings.Contains(typeOf(x.Name, within), "testing.") {
				lines = append(lines, tr.line(s.Pos()))
			}
		}
		return true
	})
	return lines
}

// typeOf returns the type of the nearest parameter of that name, or "".
func typeOf(name string, within []ast.Node) string {
	for _, n := range slices.Backward(within) {
		var fn *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			fn = n.Type
		case *ast.FuncLit:
			fn = n.Type
		default:
			continue
		}
		for _, p := range fn.Params.List {
			if slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return id.Name == name }) {
				return types.ExprString(p.Type)
			}
		}
	}
	return ""
}

var citedTest = regexp.MustCompile("`([a-z]+)\\.(Test\\w+)`")

// citedTests checks A8.
func (tr tree) citedTests() []finding {
	var found []finding
	tests := tr.tests()
	for _, f := range tr.files {
		if f.path != architecture {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			for _, m := range citedTest.FindAllStringSubmatch(line, -1) {
				if !tests[m[1]+"."+m[2]] {
					found = append(found, finding{f.path, i + 1, "A8", "there is no test " + m[1] + "." + m[2]})
				}
			}
		}
	}
	return found
}

// tests returns the names of all tests, each prefixed with the last element of its package's path.
func (tr tree) tests() map[string]bool {
	all := map[string]bool{}
	for _, f := range tr.files {
		if f.ast == nil || !f.inTest() {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				all[path.Base(f.pkg())+"."+fn.Name.Name] = true
			}
		}
	}
	return all
}
