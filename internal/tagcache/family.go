package tagcache

import "comanda/internal/keyspace"

// The entities, each with the keys of its values.
var (
	Reports  = keyspace.ReportCache // of a branch
	Orders   = keyspace.OrderCache  // of a branch
	Users    = keyspace.UserCache
	Dishes   = keyspace.DishCache
	Branches = keyspace.BranchCache // public pages of a branch
)

// Kind is what a value is.
type Kind = keyspace.CacheKind

// The kinds of values.
const (
	Detail = keyspace.CacheDetail
	List   = keyspace.CacheList
	Count  = keyspace.CacheCount
)

// The usual lives of values, by kind.
const (
	DetailLife = keyspace.CacheDetailLife
	ListLife   = keyspace.CacheListLife
	CountLife  = keyspace.CacheCountLife
)
