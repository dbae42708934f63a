package sqldb

import "fmt"

// RowSet is many rows as one argument, added column by column in the order that the statement declares. The
// statement's text does not depend on the number of rows, so it is prepared once. PostgreSQL's limit of 65,535
// parameters then applies to columns and not to cells.
type RowSet struct {
	n       int
	columns []values
}

// values is one column. Exactly one of the slices is used.
type values struct {
	name      string
	texts     []string
	ints      []int64
	nullTexts []*string
	nullInts  []*int64
}

// NewRowSet returns a set of n rows without columns.
func NewRowSet(n int) *RowSet { return &RowSet{n: n} }

// Len returns the number of rows.
func (r *RowSet) Len() int { return r.n }

// Text adds a column of text. It calls at once per row, before it returns.
func (r *RowSet) Text(name string, at func(i int) string) *RowSet {
	c := make([]string, r.n)
	for i := range c {
		c[i] = at(i)
	}
	r.columns = append(r.columns, values{name: name, texts: c})
	return r
}

// Int adds a column of integers. It calls at once per row, before it returns.
func (r *RowSet) Int(name string, at func(i int) int64) *RowSet {
	c := make([]int64, r.n)
	for i := range c {
		c[i] = at(i)
	}
	r.columns = append(r.columns, values{name: name, ints: c})
	return r
}

// NullText adds a column of text. A row for which at returns false is NULL.
func (r *RowSet) NullText(name string, at func(i int) (string, bool)) *RowSet {
	c := make([]*string, r.n)
	for i := range c {
		if v, ok := at(i); ok {
			c[i] = &v
		}
	}
	r.columns = append(r.columns, values{name: name, nullTexts: c})
	return r
}

// NullInt adds a column of integers. A row for which at returns false is NULL.
func (r *RowSet) NullInt(name string, at func(i int) (int64, bool)) *RowSet {
	c := make([]*int64, r.n)
	for i := range c {
		if v, ok := at(i); ok {
			c[i] = &v
		}
	}
	r.columns = append(r.columns, values{name: name, nullInts: c})
	return r
}

// kind is the type that the statement must declare for the column; NULLs do not change it.
func (v values) kind() kind {
	if v.ints != nil || v.nullInts != nil {
		return kindInt
	}
	return kindText
}

// fits returns an error unless the set has the columns that the statement declares.
func (r *RowSet) fits(columns []column) error {
	if len(r.columns) != len(columns) {
		return fmt.Errorf("row set has %d columns, statement has %d", len(r.columns), len(columns))
	}
	for i, c := range columns {
		if v := r.columns[i]; v.name != c.name || r.n > 0 && v.kind() != c.kind {
			return fmt.Errorf("row set column %d is %s %s, statement has %s %s", i+1, v.name, v.kind(), c.name, c.kind)
		}
	}
	return nil
}

// arrays appends one slice per column, which PostgreSQL receives as arrays. NULLs at the end of a column are left out,
// because unnest pads the shorter of its arrays with NULLs: a third of an order's columns are NULL in all rows. The first
// column keeps them, so that one array has all rows.
func (r *RowSet) arrays(args []any) []any {
	for i, c := range r.columns {
		switch {
		case c.texts != nil:
			args = append(args, c.texts)
		case c.ints != nil:
			args = append(args, c.ints)
		case c.nullTexts != nil:
			args = append(args, trimNulls(c.nullTexts, i == 0))
		default:
			args = append(args, trimNulls(c.nullInts, i == 0))
		}
	}
	return args
}

// trimNulls returns the cells of a column without the NULLs at its end, or all cells if the column is the first.
func trimNulls[T any](cells []*T, first bool) []*T {
	for !first && len(cells) > 0 && cells[len(cells)-1] == nil {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// bind converts a statement's arguments to those of PostgreSQL. Every error here is a mistake in the program: a wrong
// number of arguments, or a set whose columns are not those that the statement declares.
func (s *Stmt) bind(args []any) ([]any, error) {
	out := make([]any, 0, len(args)+8)
	err := s.eachArg(args, func(a any) { out = append(out, a) }, func(r *RowSet) { out = r.arrays(out) })
	return out, err
}

// bindLite converts a statement's arguments to those of SQLite. When the statement has ended, the caller releases the
// handles of its row sets.
func (s *Stmt) bindLite(args []any) (out []any, handles []int64, err error) {
	out = make([]any, 0, len(args))
	err = s.eachArg(args, func(a any) { out = append(out, a) }, func(r *RowSet) {
		n := register(r)
		out, handles = append(out, n), append(handles, n)
	})
	if err != nil {
		release(handles)
	}
	return out, handles, err
}

// eachArg calls plain or set for each argument, in order.
func (s *Stmt) eachArg(args []any, plain func(any), set func(*RowSet)) error {
	if len(args) != len(s.params) {
		return fmt.Errorf("sqldb: %s takes %d arguments, not %d", s.Name, len(s.params), len(args))
	}
	for i, a := range args {
		rows, ok := a.(*RowSet)
		if !ok {
			if s.params[i].columns != nil {
				return fmt.Errorf("sqldb: %s: argument %d must be a row set", s.Name, i+1)
			}
			plain(a)
			continue
		}
		if err := rows.fits(s.params[i].columns); err != nil {
			return fmt.Errorf("sqldb: %s: argument %d: %w", s.Name, i+1, err)
		}
		set(rows)
	}
	return nil
}
