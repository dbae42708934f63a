package keyspace

import "time"

// Lives of cached values. Writers spread them, so that values written together do not expire together.
const (
	CacheDetailLife = 10 * time.Minute
	CacheListLife   = 5 * time.Minute
	CacheCountLife  = 5 * time.Minute
	CacheLeaseLife  = 10 * time.Second // the longest time that one process may fill a value

	cacheMaxLife = 11 * time.Minute // of a detail, with its spread
)

// CacheKind is the kind of a cached value.
type CacheKind string

// The kinds of cached values.
const (
	CacheDetail CacheKind = "detail" // one thing
	CacheList   CacheKind = "list"   // a page, a search or a report
	CacheCount  CacheKind = "count"
)

// CacheFamily contains the declared keys of the cached values of one entity, all of one hash slot per scope: the
// values, the set of their names by which they are invalidated, and the leases of processes that fill them.
type CacheFamily struct {
	name   string
	scoped bool
	values map[CacheKind]*declared
	tags   *declared
	lock   *declared
}

// The entities whose values are cached.
var (
	ReportCache = declareCache("report", true, "order_info, order_item, payment_attempt, refund, dish_view",
		"a changed order of a business date in the report's span; a report of the current date expires after two seconds",
		CacheList)
	OrderCache = declareCache("order", true, "order_info",
		"a changed order of a business date in the list's span; with the current date after two seconds", CacheCount)
	UserCache   = declareCache("user", false, "app_user, user_branch", "a changed account", CacheCount)
	DishCache   = declareCache("dish", false, "dish, category", "a changed dish or category", CacheDetail, CacheList)
	BranchCache = declareCache("branch", true, "branch, menu_version, setting",
		"a changed menu, branch or brand, which the hash contains; expires after a minute", CacheDetail)
)

// declareCache declares the keys of an entity. A scoped family has values per branch.
func declareCache(name string, scoped bool, source, invalidated string, kinds ...CacheKind) *CacheFamily {
	hash := Segment{"hash", hashChars, secretLen}
	tag, segments, named := "{"+name+"}", []Segment(nil), []Segment{hash}
	if scoped {
		tag, segments, named = "{"+name+":%branch%}", []Segment{branchSegment}, []Segment{branchSegment, hash}
	}
	f := &CacheFamily{name: name, scoped: scoped, values: map[CacheKind]*declared{}}
	for _, kind := range kinds {
		f.values[kind] = declare(Decl{
			Pattern: "app:cache:" + tag + ":" + string(kind) + ":%hash%", Segments: named, Long: true,
			Type: String, TTL: TTL{time.Second, cacheMaxLife}, Class: Lossy, Owner: "tagcache", Tag: tag, Source: source,
			Invalidated: invalidated,
			Purpose:     "a seal and a value computed from SQL; hash: of what was asked for",
		})
	}
	f.tags = declare(Decl{
		Pattern: "app:tags:" + tag, Segments: segments, Type: SortedSet, TTL: TTL{time.Second, cacheMaxLife},
		Class: Lossy, Owner: "tagcache", Tag: tag,
		Purpose: "names of cached values and of those being filled, with the dates that they depend on, " +
			"scored by expiry (Unix ms); at most 1,000",
	})
	f.lock = declare(Decl{
		Pattern: "app:lock:" + tag + ":%hash%", Segments: named, Long: true, Type: String,
		TTL: TTL{time.Second, CacheLeaseLife}, Class: Lossy, Owner: "tagcache", Tag: tag,
		Purpose: "token of the process that fills a cached value; an invalidation deletes it, and the fill is then refused",
	})
	return f
}

// String returns the entity's name.
func (f *CacheFamily) String() string { return f.name }

// Scoped reports whether the values belong to branches.
func (f *CacheFamily) Scoped() bool { return f.scoped }

// Value returns the key of a value; hash is that of Secret. The scope of a family without scopes is 0.
func (f *CacheFamily) Value(kind CacheKind, scope int64, hash string) Key {
	d := f.values[kind]
	if d == nil {
		return Key{}
	}
	return d.key(f.segments(scope, hash)...)
}

// Tags returns the key of the names of all values of a scope.
func (f *CacheFamily) Tags(scope int64) Key { return f.tags.key(f.segments(scope)...) }

// Lock returns the key of the lease for a value.
func (f *CacheFamily) Lock(scope int64, hash string) Key {
	return f.lock.key(f.segments(scope, hash)...)
}

func (f *CacheFamily) segments(scope int64, more ...string) []string {
	if !f.scoped {
		return more
	}
	return append([]string{decimal(scope)}, more...)
}
