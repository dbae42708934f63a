package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
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
