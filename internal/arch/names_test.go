package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shared are the names that exported types of several packages may have, because the package's name distinguishes them
// at the call site. An adapter's name for something that it stores or shows is not listed: it belongs to the type of
// its context.
var shared = func() map[string]bool {
	all := map[string]bool{}
	for _, list := range []string{
		// Types of which a package has only one: sqldb.DB, cart.Service, rabbit.Config.
		"Cache Client Config DB Error Event Group Kind Memory Metrics Options Page Policy Reader Report Result Server Service " +
			"Source State Status Store Type View",
		// Parts of the types of a package: document.Field, visit.Filter.
		"Cell Change Documents Entry Field Filter Finding Index Key Limits Outbox Outcome Publisher Size Table",
		// The product's terms of which each context has its own part: cart.Line is a cart's, stock.Line a hold's.
		"Command Counter Day Dish Guest Item Line Refund Shortage Ticket",
		// Types that both gateways have.
		"Merchant Payment Simulator",
		// Interfaces that a package declares for its needs of another package.
		"Admission Authenticator Branches Limiter LiveMenus Observer",
	} {
		for name := range strings.FieldsSeq(list) {
			all[name] = true
		}
	}
	return all
}()

// types checks A13. Adapters, tests and commands are exempt.
func (tr tree) types() []finding {
	first, found := map[string]string{}, map[string]finding{}
	for _, f := range tr.files {
		if f.ast == nil || f.inTest() || adapter(f.pkg()) || !strings.HasPrefix(f.path, "internal/") {
			continue
		}
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec) //nolint:forcetypeassert // token.TYPE declares nothing else
				name := spec.Name.Name
				switch other, ok := first[name]; {
				case !spec.Name.IsExported() || shared[name]:
				case !ok:
					first[name] = f.pkg()
				case other != f.pkg():
					found[f.pkg()+name] = finding{f.path, tr.line(spec.Pos()), "A13", other + " has a type " + name + ", too"}
				}
			}
		}
	}
	return slices.Collect(maps.Values(found))
}

// adapter reports whether a package stores or shows the types of a context, such as catalog/catalogsql.
func adapter(pkg string) bool {
	base := path.Base(pkg)
	for _, kind := range []string{"sql", "redis", "http", "jwt", "out"} {
		if owner, ok := strings.CutSuffix(base, kind); ok && owner == path.Base(path.Dir(pkg)) {
			return true
		}
	}
	return false
}

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
