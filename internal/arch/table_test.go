package arch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// table is the table of imports in docs/ARCHITECTURE.md.
type table struct {
	groups map[string][]string // a word for several packages
	below  map[string][]string // by context, the contexts that it may import
	rows   []row
}

// row lists the imports that some packages may have.
type row struct {
	line     int
	packages []string // names, or patterns with <ctx>
	imports  []string // names, patterns with <ctx> and <below>, groups
	all      bool     // every package, except those
	outside  []string // modules; "anything" for no limit
}

// testsRow is the row of all packages that exist for tests only.
const testsRow = "tests"

const (
	groupHead   = "| Group | Packages |"
	contextHead = "| Context | May know |"
	arrowHead   = "| Package | May import | From outside |"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// parseTable reads the three tables of the document.
func parseTable(markdown string) (*table, error) {
	t := &table{groups: map[string][]string{}, below: map[string][]string{}}
	head := ""
	for i, line := range strings.Split(markdown, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case line == groupHead || line == contextHead || line == arrowHead:
			head = line
		case !strings.HasPrefix(line, "|"):
			head = ""
		case strings.HasPrefix(line, "|--"), head == "":
		case len(cells) != strings.Count(head, " | ")+1:
			return t, fmt.Errorf("line %d: %d cells", i+1, len(cells))
		default:
			if err := t.enter(head, cells, i+1); err != nil {
				return t, err
			}
		}
	}
	if len(t.groups) == 0 || len(t.below) == 0 || len(t.rows) == 0 {
		return t, fmt.Errorf("a table is missing: %d groups, %d contexts, %d rows of arrows",
			len(t.groups), len(t.below), len(t.rows))
	}
	return t, nil
}

func (t *table) enter(head string, cells []string, line int) error {
	switch head {
	case groupHead:
		t.groups[cells[0]] = names(cells[1])
	case contextHead:
		for _, c := range names(cells[0]) {
			t.below[c] = names(cells[1])
		}
	case arrowHead:
		rest, all := strings.CutPrefix(cells[1], "everything")
		for _, cell := range []string{cells[0], rest, cells[2]} {
			if word := t.bareWord(cell); word != "" {
				return fmt.Errorf("line %d: %s is not a group; packages stand in backquotes", line, word)
			}
		}
		t.rows = append(t.rows, row{
			line: line, packages: names(cells[0]), imports: names(rest), all: all, outside: names(cells[2]),
		})
	}
	return nil
}

// bareWord returns a bare word of a cell that is not a group. A package's name without backquotes would allow nothing.
func (t *table) bareWord(cell string) string {
	for part := range strings.SplitSeq(cell, ", ") {
		_, group := t.groups[part]
		if !group && !quoted.MatchString(part) && !slices.Contains([]string{"", testsRow, "nothing", "anything"}, part) {
			return part
		}
	}
	return ""
}

// names returns the entries of a cell: packages and modules in backquotes, groups as bare words.
func names(cell string) []string {
	var all []string
	for part := range strings.SplitSeq(cell, ", ") {
		if m := quoted.FindStringSubmatch(part); m != nil {
			all = append(all, m[1])
		} else if part != "" && part != "nothing" && part != "no other" {
			all = append(all, part)
		}
	}
	return all
}

// match is the result of find: a package's row, the name or pattern in it that matches, and for a pattern the context
// that the package belongs to.
type match struct {
	row  row
	name string
	ctx  string
}

// find returns the row of a package. A name wins over a pattern.
func (t *table) find(pkg string, test bool) (m match, ok bool) {
	if test {
		pkg = testsRow
	}
	for _, r := range t.rows {
		if slices.Contains(r.packages, pkg) {
			return match{r, pkg, ""}, true
		}
	}
	for _, r := range t.rows {
		for c := range t.below {
			i := slices.IndexFunc(r.packages, func(p string) bool { return expand(p, c) == pkg })
			if i >= 0 {
				return match{r, r.packages[i], c}, true
			}
		}
	}
	return match{}, false
}

// expand turns <ctx>sql into stock/stocksql, and <ctx> into stock.
func expand(pattern, ctx string) string {
	if suffix, ok := strings.CutPrefix(pattern, "<ctx>"); ok && suffix != "" {
		return ctx + "/" + ctx + suffix
	}
	return strings.ReplaceAll(pattern, "<ctx>", ctx)
}

// allows reports whether a package may import another one.
func (t *table) allows(m match, target string) bool {
	if m.row.all {
		return !testPackage(target) && !slices.Contains(m.row.imports, target)
	}
	return slices.ContainsFunc(m.row.imports, func(name string) bool {
		if slices.Contains(t.groups[name], target) || expand(name, m.ctx) == target {
			return true
		}
		suffix, ok := strings.CutPrefix(name, "<below>")
		return ok && slices.ContainsFunc(t.below[m.ctx], func(c string) bool { return expand("<ctx>"+suffix, c) == target })
	})
}

// allowsOutside reports whether a row lists the module that a package belongs to.
func (t *table) allowsOutside(r row, pkg string) bool {
	within := func(module string) bool { return pkg == module || strings.HasPrefix(pkg, module+"/") }
	return slices.ContainsFunc(r.outside, func(name string) bool {
		return name == "anything" || within(name) || slices.ContainsFunc(t.groups[name], within)
	})
}
