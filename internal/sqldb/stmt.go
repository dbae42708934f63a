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

// Load compiles the .sql files of a folder. A file holds the statements of one table or subject, each under a line
// "-- name: order_insert". A file without such a line is one statement, which has the file's name. Text under a line
// "-- fragment: order_columns" stands wherever a statement of the folder has "@order_columns".
//
// Load panics on a text that it cannot compile, because statements are part of the program.
func Load(files fs.FS) *Stmts {
	paths, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err)
	}
	var sections []section
	fragments := map[string]string{}
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			panic(err)
		}
		for _, part := range split(strings.TrimSuffix(path, ".sql"), string(text)) {
			if part.fragment {
				fragments[part.name] = part.text
			} else {
				sections = append(sections, part)
			}
		}
	}
	s := &Stmts{byName: map[string]*Stmt{}}
	for _, part := range sections {
		stmt, err := compile(part.name, part.text, fragments)
		if err == nil && s.byName[stmt.Name] != nil {
			err = fmt.Errorf("sqldb: two statements %s", stmt.Name)
		}
		if err != nil {
			panic(err)
		}
		s.byName[stmt.Name] = stmt
	}
	return s
}

// section is one statement or fragment of a file.
type section struct {
	name, text string
	fragment   bool
}

var headPattern = regexp.MustCompile(`(?m)^-- (name|fragment): (\w+)\n`)

// split cuts a file at its head lines. What stands before the first of them is a comment on the file.
func split(path, text string) []section {
	heads := headPattern.FindAllStringSubmatchIndex(text, -1)
	if heads == nil {
		return []section{{name: path, text: text}}
	}
	sections := make([]section, len(heads))
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		sections[i] = section{name: text[h[4]:h[5]], text: text[h[1]:end], fragment: text[h[2]:h[3]] == "fragment"}
	}
	return sections
}

// Must returns the statement of that name. It panics when there is none.
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
	namePattern  = regexp.MustCompile(`(?m)(^|[\s(])@(\w+)`)
)

// compile reads a statement once and writes it for both engines.
func compile(name, text string, fragments map[string]string) (*Stmt, error) {
	text, err := insert(strip(text), fragments)
	if err != nil {
		return nil, fmt.Errorf("sqldb: %s: %w", name, err)
	}
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

// strip returns a text without its comment lines.
func strip(text string) string { return strings.TrimSpace(linePattern.ReplaceAllString(text, "")) }

// insert puts fragments in the places that name them. A fragment may name others that have no fragments themselves.
func insert(text string, fragments map[string]string) (string, error) {
	var unknown error
	for range 2 {
		text = namePattern.ReplaceAllStringFunc(text, func(m string) string {
			part := namePattern.FindStringSubmatch(m)
			if part[2] == "rows" {
				return m
			}
			fragment, ok := fragments[part[2]]
			if !ok {
				unknown = fmt.Errorf("no fragment @%s", part[2])
			}
			return part[1] + strip(fragment)
		})
	}
	return text, unknown
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
	return strings.ReplaceAll(choose(text, "pg"), "\x00", "$")
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
	return choose(paramPattern.ReplaceAllString(text, "?$1"), "sqlite")
}

// choose uncovers the comments marked with an engine's name.
func choose(text, name string) string {
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
