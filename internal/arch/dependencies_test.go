package arch

import (
	"encoding/json"
	"io/fs"
	"maps"
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
