package arch

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var statementHead = regexp.MustCompile(`(?m)^-- name: (\w+)$`)

// statements checks A12. A package that computes names of statements checks them itself when it starts, so only the
// names in its calls of stmt are compared.
func (tr tree) statements() []finding {
	declared := map[string][]string{} // by folder
	heads := map[string]finding{}
	for _, f := range tr.files {
		if !strings.HasSuffix(f.path, ".sql") {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			if m := statementHead.FindStringSubmatch(line); m != nil {
				dir := strings.TrimSuffix(path.Dir(f.path), "/sql") // some packages have a folder for them
				declared[dir] = append(declared[dir], m[1])
				heads[dir+" "+m[1]] = finding{f.path, i + 1, "A12", "no code runs the statement " + m[1]}
			}
		}
	}
	var found []finding
	computed := map[string]bool{}
	for _, f := range tr.files {
		if f.ast == nil {
			continue
		}
		dir := path.Dir(f.path)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(lit.Value)
				delete(heads, dir+" "+name)
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			lit, literal := call.Args[0].(*ast.BasicLit)
			switch fn := call.Fun.(type) {
			case *ast.SelectorExpr:
				computed[dir] = computed[dir] || fn.Sel.Name == "Must" && !literal
			case *ast.Ident:
				if fn.Name != "stmt" {
					break
				}
				name := "a computed name"
				if literal {
					name, _ = strconv.Unquote(lit.Value)
				}
				if !slices.Contains(declared[dir], name) {
					found = append(found, finding{f.path, tr.line(call.Pos()), "A12", "there is no statement " + name})
				}
			}
			return true
		})
	}
	for key, f := range heads {
		if dir, _, _ := strings.Cut(key, " "); !computed[dir] {
			found = append(found, f)
		}
	}
	return found
}
