package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// tree is the source of a module, as the rules read it.
type tree struct {
	set   *token.FileSet
	files []file
}

// file is one text file of the tree.
type file struct {
	path string // slash-separated, from the root of the module
	text string
	ast  *ast.File // nil unless it is Go
}

// textEndings are the endings of files with text that rules check.
var textEndings = []string{".go", ".sql", ".lua", ".ts", ".vue", ".md", ".yaml", ".yml", ".json", "Makefile", "/run"}

// skipped are directories without source code of this project: output of runs, and input of parser tests.
var skipped = []string{".git", "bin", "data", "testdata", "node_modules", "dist"}

// read loads every text file below the root.
func read(t *testing.T, root fs.FS) tree {
	t.Helper()
	tr := tree{set: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.ContainsFunc(textEndings, func(e string) bool { return strings.HasSuffix(p, e) }):
			return nil
		}
		f, err := tr.load(root, p)
		tr.files = append(tr.files, f)
		return err
	})
	if err != nil {
		t.Fatalf("read the tree: %v", err)
	}
	return tr
}

func (tr tree) load(root fs.FS, p string) (file, error) {
	text, err := fs.ReadFile(root, p)
	f := file{path: p, text: string(text)}
	if err == nil && strings.HasSuffix(p, ".go") {
		f.ast, err = parser.ParseFile(tr.set, p, text, parser.ParseComments|parser.SkipObjectResolution)
	}
	return f, err
}

func (tr tree) line(pos token.Pos) int { return tr.set.Position(pos).Line }

// inTest reports whether the file exists for tests only, by its name or its package's.
func (f file) inTest() bool { return strings.HasSuffix(f.path, "_test.go") || testPackage(f.pkg()) }

// testPackage reports whether a package is made for tests: sqldb/sqldbtest, testenv, e2e.
func testPackage(pkg string) bool {
	base := path.Base(pkg)
	return strings.HasSuffix(base, "test") || base == "testenv" || base == "e2e"
}

// pkg returns the file's package as in the table of imports: without the leading internal/.
func (f file) pkg() string { return strings.TrimPrefix(path.Dir(f.path), "internal/") }

// imports returns the import paths of a Go file with their lines.
func (tr tree) imports(f file) map[string]int {
	all := map[string]int{}
	for _, s := range f.ast.Imports {
		all[strings.Trim(s.Path.Value, `"`)] = tr.line(s.Pos())
	}
	return all
}
