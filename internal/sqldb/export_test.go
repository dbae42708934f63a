package sqldb

// OpenConns opens a pool of SQLite connections with row_set.
var OpenConns = openConns

// InTx returns the text that SQLite runs in a transaction.
func (s *Stmt) InTx() string { return orFail(s.sqlite()) }

// Registered returns the number of row sets that statements refer to.
func Registered() (n int) {
	registered.Range(func(any, any) bool { n++; return true })
	return n
}
