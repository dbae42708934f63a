package sqldb

// RowText returns the text that SQLite runs for one row of a row set, or "".
func (s *Stmt) RowText() string { return s.sqliteRow }
