package arch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

const dependencyList = "docs/dependencies.md"

var (
	requireLine   = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+/?\S*) v\S+$`) // without "// indirect"
	dependencyRow = regexp.MustCompile("^\\| `([^`]+)` \\|")
)

// dependencies checks A14. A module without the list is not checked.
func (tr tree) dependencies(root fs.FS) []finding {
	i := slices.IndexFunc(tr.files, func(f file) bool { return f.path == dependencyList })
	if i < 0 {
		return nil
	}
	direct := map[string]bool{}
	goMod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return []finding{{"go.mod", 1, "A14", err.Error()}}
	}
	for _, m := range requireLine.FindAllStringSubmatch(string(goMod), -1) {
		direct[m[1]] = true
	}
	var web struct{ Dependencies, DevDependencies map[string]string }
	packages, err := fs.ReadFile(root, "web/package.json")
	if err == nil {
		err = json.Unmarshal(packages, &web)
	}
	if err != nil {
		return []finding{{"web/package.json", 1, "A14", err.Error()}}
	}
	for _, list := range []map[string]string{web.Dependencies, web.DevDependencies} {
		for name := range list {
			direct[name] = true
		}
	}
	var found []finding
	for n, line := range strings.Split(tr.files[i].text, "\n") {
		m := dependencyRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !direct[m[1]] {
			found = append(found, finding{dependencyList, n + 1, "A14", "there is no direct dependency " + m[1]})
		}
		delete(direct, m[1])
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if len(cells) != 5 || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			found = append(found, finding{dependencyList, n + 1, "A14", m[1] + " needs purpose, license, reason and upkeep"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(direct)) {
		found = append(found, finding{dependencyList, 1, "A14", name + " is not reviewed"})
	}
	return found
}

// pathHead begins the table of the files on the path of an order.
const pathHead = "| Stage | Files |"

// orderPath checks A15. A document without the table is not checked.
func (tr tree) orderPath(l limits) []finding {
	i := strings.Index(tr.text(architecture), pathHead)
	if i < 0 {
		return nil
	}
	before, rest := tr.text(architecture)[:i], tr.text(architecture)[i:]
	rows, _, _ := strings.Cut(rest, "\n\n")
	at := strings.Count(before, "\n") + 1
	files, code := 0, 0
	for _, m := range quoted.FindAllStringSubmatch(rows, -1) {
		files++
		code += codeLines(m[1], tr.text(m[1]))
	}
	var found []finding
	if files > l.pathFiles || code > l.pathLines {
		found = append(found, finding{architecture, at, "A15", fmt.Sprintf(
			"the path of an order has %d files with %d lines of code; %d and %d are the limits", files, code, l.pathFiles, l.pathLines)})
	}
	// The document rounds the lines to hundreds.
	if stated := fmt.Sprintf("%d files with %s lines of code", files, thousands((code+50)/100*100)); !strings.Contains(before, stated) {
		found = append(found, finding{architecture, at, "A15", "the text before the table does not state \"" + stated + "\""})
	}
	return found
}

// text returns the text of a file, or "" for a missing one, which A11 reports.
func (tr tree) text(name string) string {
	for _, f := range tr.files {
		if f.path == name {
			return f.text
		}
	}
	return ""
}

// codeLines returns the number of lines that are neither blank nor only a comment.
func codeLines(name, text string) (n int) {
	comment := cmp.Or(map[string]string{".sql": "--", ".lua": "--"}[path.Ext(name)], "//")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, comment) {
			n++
		}
	}
	return n
}

// thousands formats a number as in 4,400.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
