package sqldb

import (
	"fmt"
	"io/fs"
	"slices"
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
	sqliteRow        string // the text that runs for one row, see rowText; "" if there is none
	sqliteCells      []int  // the values of its parameters
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
	s.sqliteRow, s.sqliteCells = rowText(pieces)
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
		if err != nil { // a "$" that is no parameter, as in a JSON path
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

// writeSQLite writes a row set as one parameter, a JSON array of arrays. The operator ->> returns SQL values: an
// integer stays an integer, and null becomes NULL. A row set of one column is an array of its cells, which SQLite need not
// parse again.
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
			switch {
			case len(p.columns) == 1:
				b.WriteString("value AS " + c.name)
				continue
			case i > 0:
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "value ->> %d AS %s", i, c.name)
		}
		fmt.Fprintf(&b, " FROM json_each(?%d))", p.param)
	}
	return enableFor(b.String(), "sqlite")
}

// rowText returns the text with which SQLite runs a statement for each row of a row set by itself; it is empty for other
// statements. cells are the values of its parameters, in their order: columns of the row set, or ^n for the n-th argument.
// The parameters have no numbers, because the driver searches the names of numbered ones for each cell. There are two
// forms, both without subqueries:
//
//	INSERT INTO ... SELECT columns and constants FROM @rows(...) AS r, maybe with ON CONFLICT
//	UPDATE ... SET ... FROM @rows(...) AS r WHERE ...
//
// This is several times faster than JSON, each cell of which is parsed, printed and parsed again. The text is
// INSERT ... VALUES and not INSERT ... SELECT: SQLite keeps a copy of each page that the latter changes, to undo the first
// rows if a later one fails, and a transaction with a failed statement is rolled back anyway. UPDATE ... FROM would copy
// all rows into a table before the first change. Rows of an update must differ in their keys, as on PostgreSQL, which
// applies only one of them. Inserts with further parameters use JSON: for hold_insert, whose rows are short, it is faster.
func rowText(pieces []piece) (text string, cells []int) {
	flat, columns := flatten(pieces)
	before, behind, isFrom := strings.Cut(flat, "@rows AS r")
	behind = strings.TrimSpace(behind)
	if columns == nil || !isFrom {
		return "", nil
	}
	switch {
	case strings.HasPrefix(flat, "INSERT INTO"):
		into, selected, _ := strings.Cut(before, "SELECT")
		selected, between, isFrom := strings.Cut(selected, "FROM")
		between = strings.TrimSpace(between) // empty, or one fragment of PostgreSQL
		isFrom = isFrom && (between == "" || strings.HasPrefix(between, "/*pg:") && strings.Index(between, "*/") == len(between)-2)
		behind = strings.TrimSpace(strings.TrimPrefix(behind, "WHERE true"))
		isPlain := behind == "" || strings.HasPrefix(behind, "ON CONFLICT") && !strings.Contains(behind, "$") &&
			!strings.Contains(behind, "r.") && single(behind)
		if !isFrom || !isPlain || !allValues(selected) {
			return "", nil
		}
		text = fmt.Sprintf("%sVALUES (%s) %s", into, strings.TrimSpace(selected), behind)
	case strings.HasPrefix(flat, "UPDATE "):
		set, isFrom := strings.CutSuffix(strings.TrimSpace(before), "FROM")
		if !isFrom || !single(set) || !strings.HasPrefix(behind, "WHERE") || !single(behind) {
			return "", nil
		}
		text = set + behind
	}
	text, cells, ok := withCells(strings.TrimSpace(text), columns)
	if !ok {
		return "", nil
	}
	return text, cells
}

// flatten returns the text of a statement whose first parameter is its only row set, as SQLite reads it. The row set is
// written as "@rows", and other parameters as "$2". columns is nil for other statements.
func flatten(pieces []piece) (flat string, columns []column) {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.columns != nil && (p.param != 1 || columns != nil):
			return "", nil
		case p.columns != nil:
			columns = p.columns
			b.WriteString("@rows")
		case p.param > 0:
			fmt.Fprintf(&b, "$%d", p.param)
		default:
			b.WriteString(p.text)
		}
	}
	return enableFor(b.String(), "sqlite"), columns
}

// single reports whether a part of a statement has no subquery, join, result or comment.
func single(part string) bool {
	for _, word := range []string{"SELECT", "FROM", "JOIN", "RETURNING", "/*"} {
		if strings.Contains(part, word) {
			return false
		}
	}
	return true
}

// allValues reports whether a list has only columns of r and constants.
func allValues(list string) bool {
	for v := range strings.SplitSeq(list, ",") {
		v = strings.TrimSpace(v)
		isColumn := strings.HasPrefix(v, "r.") && strings.Trim(v[2:], nameCharacters) == ""
		if !isColumn && !constant(v) {
			return false
		}
	}
	return true
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// withCells replaces the columns of r and the parameters of a text by "?". It fails if a column is not in the row set.
func withCells(text string, columns []column) (replaced string, cells []int, ok bool) {
	var b strings.Builder
	take := func(n int) (taken string) {
		taken, text = text[:n], text[n:]
		return taken
	}
	length := func(of, characters string) int { return len(of) - len(strings.TrimLeft(of, characters)) }
	for text != "" {
		switch word := take(max(1, length(text, nameCharacters))); {
		case word == "r" && strings.HasPrefix(text, "."):
			take(1)
			name := take(length(text, nameCharacters))
			i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
			if i < 0 {
				return "", nil, false
			}
			cells = append(cells, i)
			b.WriteString("?")
		case word == "$":
			n, err := strconv.Atoi(take(length(text, "0123456789")))
			if err != nil {
				return "", nil, false
			}
			cells = append(cells, ^(n - 1))
			b.WriteString("?")
		case word == "'":
			literal, _, _ := strings.Cut(text, "'")
			b.WriteString(word + take(min(len(literal)+1, len(text))))
		default:
			b.WriteString(word)
		}
	}
	return b.String(), cells, true
}

// constant reports whether an SQL expression is NULL, an integer, or a text without commas and quotes.
func constant(v string) bool {
	if _, err := strconv.ParseInt(v, 10, 64); err == nil || v == "NULL" {
		return true
	}
	return len(v) > 1 && v[0] == '\'' && strings.Index(v[1:], "'") == len(v)-2
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
