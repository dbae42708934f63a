package sqldb

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Engine is a database that Comanda runs on.
type Engine string

// The engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Stmt is one statement, compiled for both engines.
type Stmt struct {
	Name   string
	texts  map[Engine]string
	params []param
}

// param says what the statement's n-th parameter is: a plain value, or a set of rows with these columns.
type param struct{ columns []column }

type column struct {
	name string
	kind kind
}

type kind string

const (
	kindText kind = "text"
	kindInt  kind = "int"
)

// Text is the statement as the engine receives it.
func (s *Stmt) Text(e Engine) string { return s.texts[e] }

// Stmts are the statements of one package by name.
type Stmts struct{ byName map[string]*Stmt }

// Load compiles every .sql file of a folder; a file's name without its ending is the statement's name. It panics on a
// text that it cannot compile, because statements are part of the program.
func Load(files fs.FS) *Stmts {
	s := &Stmts{byName: map[string]*Stmt{}}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		stmt, err := compile(strings.TrimSuffix(name, ".sql"), string(text))
		if err != nil {
			panic(err)
		}
		s.byName[stmt.Name] = stmt
	}
	return s
}

// Must gives a statement by name; it panics when there is none.
func (s *Stmts) Must(name string) *Stmt {
	stmt, ok := s.byName[name]
	if !ok {
		panic("sqldb: no statement " + name)
	}
	return stmt
}

// All calls f for each statement.
func (s *Stmts) All(f func(*Stmt)) {
	for _, stmt := range s.byName {
		f(stmt)
	}
}

var (
	rowsPattern  = regexp.MustCompile(`@rows\(\$(\d+):([^)]*)\)`)
	paramPattern = regexp.MustCompile(`\$(\d+)`)
	linePattern  = regexp.MustCompile(`(?m)^\s*--.*\n?`)
)

// compile reads a statement once and writes it for both engines.
func compile(name, text string) (*Stmt, error) {
	text = strings.TrimSpace(linePattern.ReplaceAllString(text, ""))
	s := &Stmt{Name: name, texts: map[Engine]string{}}
	for _, m := range paramPattern.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		for len(s.params) < n {
			s.params = append(s.params, param{})
		}
	}
	for _, m := range rowsPattern.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		columns, err := parseColumns(m[2])
		if err != nil {
			return nil, fmt.Errorf("sqldb: %s: %w", name, err)
		}
		s.params[n-1].columns = columns
	}
	s.texts[Postgres] = s.writePostgres(text)
	s.texts[SQLite] = s.writeSQLite(text)
	return s, nil
}

func parseColumns(list string) ([]column, error) {
	var columns []column
	for part := range strings.SplitSeq(list, ",") {
		name, k, ok := strings.Cut(strings.TrimSpace(part), " ")
		if !ok || kind(k) != kindText && kind(k) != kindInt {
			return nil, fmt.Errorf("row set column %q is not \"name text\" or \"name int\"", part)
		}
		columns = append(columns, column{name, kind(k)})
	}
	return columns, nil
}

// writePostgres gives each column of a row set a parameter of its own, an array.
func (s *Stmt) writePostgres(text string) string {
	first := make([]int, len(s.params)) // where the n-th parameter begins on this engine
	next := 1
	for i, p := range s.params {
		first[i] = next
		next += max(1, len(p.columns))
	}
	text = rowsPattern.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(rowsPattern.FindStringSubmatch(m)[1])
		columns := s.params[n-1].columns
		arrays, names := make([]string, len(columns)), make([]string, len(columns))
		for i, c := range columns {
			array := map[kind]string{kindText: "text[]", kindInt: "bigint[]"}[c.kind]
			arrays[i] = fmt.Sprintf("\x00%d::%s", first[n-1]+i, array)
			names[i] = c.name
		}
		return fmt.Sprintf("(SELECT * FROM unnest(%s) AS u(%s))", strings.Join(arrays, ", "), strings.Join(names, ", "))
	})
	text = paramPattern.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(m[1:])
		return fmt.Sprintf("\x00%d", first[n-1])
	})
	return strings.ReplaceAll(fragments(text, "pg"), "\x00", "$")
}

// writeSQLite takes a row set as one JSON array of arrays.
func (s *Stmt) writeSQLite(text string) string {
	text = rowsPattern.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(rowsPattern.FindStringSubmatch(m)[1])
		var b strings.Builder
		b.WriteString("(SELECT ")
		for i, c := range s.params[n-1].columns {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "value ->> %d AS %s", i, c.name)
		}
		fmt.Fprintf(&b, " FROM json_each(?%d))", n)
		return b.String()
	})
	return fragments(paramPattern.ReplaceAllString(text, "?$1"), "sqlite")
}

// fragments opens the comments marked with an engine's name.
func fragments(text, name string) string {
	open := "/*" + name + ":"
	for {
		before, rest, ok := strings.Cut(text, open)
		if !ok {
			return text
		}
		inside, after, _ := strings.Cut(rest, "*/")
		text = before + inside + after
	}
}
