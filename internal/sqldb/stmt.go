package sqldb

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Engine is a database engine that Comanda supports.
type Engine string

// The supported engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Stmt is one statement, compiled for both engines. It is immutable and safe for concurrent use.
type Stmt struct {
	Name string

	postgres, sqlite func() string
	params           []param
}

// param is one parameter of a statement: a plain value, or a row set with these columns.
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

// Text returns the statement as the engine receives it.
func (s *Stmt) Text(e Engine) string {
	if e == Postgres {
		return s.postgres()
	}
	return s.sqlite()
}

// Stmts are the statements of one package by name.
type Stmts struct{ byName map[string]*Stmt }

// Load compiles the .sql files of a folder. A file holds the statements of one table or subject, each under a line "--
// name: order_insert". A file without such a line is one statement with the file's name. Text under a line "--
// fragment: order_columns" replaces "@order_columns" in all statements of the folder.
//
// Load panics on a text that it cannot compile, because statements are part of the program.
func Load(files fs.FS) *Stmts {
	paths, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err)
	}
	var statements []section
	fragments := map[string]string{}
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			panic(err)
		}
		for _, part := range sections(strings.TrimSuffix(path, ".sql"), string(text)) {
			if part.fragment {
				fragments[part.name] = part.text
			} else {
				statements = append(statements, part)
			}
		}
	}
	return compileAll(statements, fragments)
}

// LoadTemplate compiles the statements of a text in the form of Load's files, for one of several tables that share the
// text. Each name gets the prefix, so that errors name the table. "@name" is replaced by the fragment of that name.
func LoadTemplate(prefix, text string, fragments map[string]string) *Stmts {
	parts := sections(prefix, text)
	for i := range parts {
		parts[i].name = prefix + "_" + parts[i].name
	}
	return compileAll(parts, fragments)
}

// compileAll panics on a statement that does not compile and on a name that occurs twice: the second would silently
// replace the first.
func compileAll(statements []section, fragments map[string]string) *Stmts {
	s := &Stmts{byName: map[string]*Stmt{}}
	for _, part := range statements {
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

// sections splits a file at its "-- name" and "-- fragment" lines. Text before the first of them is ignored as a
// comment.
func sections(path, text string) []section {
	var all []section
	for line := range strings.Lines(text) {
		name, isName := strings.CutPrefix(line, "-- name: ")
		fragment, isFragment := strings.CutPrefix(line, "-- fragment: ")
		switch {
		case isName:
			all = append(all, section{name: strings.TrimSpace(name)})
		case isFragment:
			all = append(all, section{name: strings.TrimSpace(fragment), fragment: true})
		case all != nil:
			all[len(all)-1].text += line
		}
	}
	if all == nil {
		return []section{{name: path, text: text}}
	}
	return all
}

// Must returns the statement of that name. It panics if there is none.
func (s *Stmts) Must(name string) *Stmt {
	stmt, ok := s.byName[name]
	if !ok {
		panic("sqldb: no statement " + name)
	}
	return stmt
}

// All calls f for each statement, in no particular order.
func (s *Stmts) All(f func(*Stmt)) {
	for _, stmt := range s.byName {
		f(stmt)
	}
}

// compile parses a statement. It writes an engine's text only when it is first needed. The parser is written by hand
// because every start compiles all statements of the program: with regular expressions that took half of the time
// before main.
func compile(name, text string, fragments map[string]string) (*Stmt, error) {
	text, err := insert(uncommented(text), fragments, 2)
	if err != nil {
		return nil, fmt.Errorf("sqldb: %s: %w", name, err)
	}
	pieces, err := split(text)
	if err != nil {
		return nil, fmt.Errorf("sqldb: %s: %w", name, err)
	}
	s := &Stmt{Name: name}
	for _, p := range pieces {
		for len(s.params) < p.param {
			s.params = append(s.params, param{})
		}
		if p.columns != nil {
			s.params[p.param-1].columns = p.columns
		}
	}
	s.postgres = sync.OnceValue(func() string { return s.writePostgres(pieces) })
	s.sqlite = sync.OnceValue(func() string { return s.writeSQLite(pieces) })
	return s, nil
}

// uncommented returns a text without its comment lines. A "$" or "@" in a comment would count as a parameter or a
// fragment.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// insert replaces "@name" by the fragment of that name. Fragments may contain others, down to depth levels, which also
// ends a cycle. An "@" within a word, as in an e-mail address, and "@rows(" stay.
func insert(text string, fragments map[string]string, depth int) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "@")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		rest := strings.TrimLeftFunc(after, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
		name := after[:len(after)-len(rest)]
		text = rest
		if name == "rows" || before != "" && !strings.ContainsAny(before[len(before)-1:], " \n\t(") {
			b.WriteString("@" + name)
			continue
		}
		fragment, ok := fragments[name]
		if !ok || depth == 0 {
			return "", fmt.Errorf("no fragment @%s", name)
		}
		inner, err := insert(uncommented(fragment), fragments, depth-1)
		if err != nil {
			return "", err
		}
		b.WriteString(inner)
	}
}

// piece is plain text or a reference to a parameter.
type piece struct {
	text    string
	param   int      // number of the parameter; 0 for text
	columns []column // columns of @rows($1: id text, qty int)
}

// split cuts a text at its parameters.
func split(text string) (pieces []piece, err error) {
	for {
		before, after, found := strings.Cut(text, "$")
		if !found {
			return append(pieces, piece{text: text}), nil
		}
		rest := strings.TrimLeft(after, "0123456789")
		n, err := strconv.Atoi(after[:len(after)-len(rest)])
		if err != nil { // a "$" that is not a parameter, as in a JSON path
			pieces, text = append(pieces, piece{text: before + "$"}), after
			continue
		}
		p := piece{param: n}
		if head, isRows := strings.CutSuffix(before, "@rows("); isRows && strings.HasPrefix(rest, ":") {
			list, behind, closed := strings.Cut(rest[1:], ")")
			if !closed {
				return nil, fmt.Errorf("the row set $%d does not end", n)
			}
			if p.columns, err = parseColumns(list); err != nil {
				return nil, err
			}
			before, rest = head, behind
		}
		pieces, text = append(pieces, piece{text: before}, p), rest
	}
}

// parseColumns parses the declaration of a row set. Text and int are the only types that both engines share (decision
// 3).
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

// writePostgres writes each column of a row set as a parameter of its own, an array. The casts are necessary:
// PostgreSQL cannot infer the element type of unnest's parameter.
func (s *Stmt) writePostgres(pieces []piece) string {
	first := make([]int, len(s.params)) // PostgreSQL's number of the n-th parameter or its first column
	next := 1
	for i, p := range s.params {
		first[i] = next
		next += max(1, len(p.columns))
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.columns == nil {
			b.WriteString(p.text)
			if p.param > 0 {
				fmt.Fprintf(&b, "$%d", first[p.param-1])
			}
			continue
		}
		arrays, names := make([]string, len(p.columns)), make([]string, len(p.columns))
		for i, c := range p.columns {
			array := map[kind]string{kindText: "text[]", kindInt: "bigint[]"}[c.kind]
			arrays[i] = fmt.Sprintf("$%d::%s", first[p.param-1]+i, array)
			names[i] = c.name
		}
		fmt.Fprintf(&b, "(SELECT * FROM unnest(%s) AS u(%s))", strings.Join(arrays, ", "), strings.Join(names, ", "))
	}
	return enableFor(b.String(), "pg")
}

// writeSQLite writes a row set as one parameter of the table-valued function row_set.
func (s *Stmt) writeSQLite(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.columns == nil {
			b.WriteString(p.text)
			if p.param > 0 {
				fmt.Fprintf(&b, "?%d", p.param)
			}
			continue
		}
		b.WriteString("(SELECT ")
		for i, c := range p.columns {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "c%d AS %s", i, c.name)
		}
		fmt.Fprintf(&b, " FROM "+rowFunction+"(?%d))", p.param)
	}
	return enableFor(b.String(), "sqlite")
}

// enableFor removes the comment marks around fragments for the named engine. Fragments for the other engine stay
// comments, which the engine ignores.
func enableFor(text, engine string) string {
	open := "/*" + engine + ":"
	for {
		before, rest, ok := strings.Cut(text, open)
		if !ok {
			return text
		}
		inside, after, _ := strings.Cut(rest, "*/")
		text = before + inside + after
	}
}
