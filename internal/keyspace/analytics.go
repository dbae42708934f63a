package keyspace

import (
	"time"
)

// Lives of keys of members' activity and of presence.
const (
	LoginDayLife   = 400 * 24 * time.Hour // a report of a leap year, and the 30 days before it
	LoginUnionLife = time.Minute          // a script deletes its unions; one that is interrupted leaves them
	OnlineLife     = 10 * time.Minute     // longer than a visitor counts as online
)

// loginTag keeps all dates in one slot, because BITOP combines them.
const loginTag = "{login}"

var loginDay = declare(Decl{
	Pattern: "app:analytics:daily:" + loginTag + ":%date%", Segments: []Segment{dateSegment},
	Type: Bitmap, TTL: TTL{time.Second, LoginDayLife}, Class: Derived, Owner: "analytics", Tag: loginTag,
	Source: "member_activity", Rebuild: "analytics.restoreDay",
	Purpose: "bit 0: complete; other bits: ids of the members who were active on the date",
})

// LoginDay returns the key of the members who were active on a date.
func LoginDay(date string) Key { return loginDay.key(date) }

var loginUnion = declare(Decl{
	Pattern: "app:analytics:union:" + loginTag + ":%part%", Segments: []Segment{{"part", digits, 1}},
	Type: Bitmap, TTL: TTL{time.Second, LoginUnionLife}, Class: Lossy, Owner: "analytics", Tag: loginTag,
	Purpose: "members who were active on one of several dates, while a script counts them",
})

// LoginUnion returns the key of an intermediate result.
func LoginUnion(part int64) Key { return loginUnion.key(decimal(part)) }

var onlineMembers = declare(Decl{
	Pattern: "app:counter:online:users",
	Type:    SortedSet, TTL: TTL{time.Second, OnlineLife}, Class: Lossy, Owner: "analytics",
	Purpose: "members, scored by when they were last seen (Unix ms)",
})

// OnlineMembers returns the key of the members who are online.
func OnlineMembers() Key { return onlineMembers.key() }

var onlineGuests = declare(Decl{
	Pattern: "app:counter:online:guests:%branch%", Segments: []Segment{branchSegment},
	Type: SortedSet, TTL: TTL{time.Second, OnlineLife}, Class: Lossy, Owner: "analytics",
	Purpose: "hashes of guests' tokens, scored by when they were last seen (Unix ms)",
})

// OnlineGuests returns the key of the guests who are in a branch.
func OnlineGuests(branch int64) Key { return onlineGuests.key(decimal(branch)) }

// Lives of analytics keys.
const (
	ViewCountLife = 48 * time.Hour     // how long counters wait for an unreachable database
	SeenLife      = 10 * time.Minute   // a list may miss a view that was counted while it was read from SQL
	RankLife      = 8 * 24 * time.Hour // the longest period and a day
	SearchLife    = 7 * 24 * time.Hour
)

var viewCounts = declare(Decl{
	Pattern: "app:counter:views:" + branchTag + ":%date%", Segments: []Segment{branchSegment, dateSegment},
	Type: Hash, TTL: TTL{time.Second, ViewCountLife}, Class: Lossy, Owner: "analytics", Tag: branchTag,
	Purpose: "counters that are not yet in dish_view, page_view, cart_start and member_view: v, a: dish -> viewed, added; " +
		"p: page -> opened; c: visit that began a cart; u, t: user and dish -> opened, newest (Unix ms)",
})

// ViewCounts returns the key of a business date's counters that are not yet in SQL.
func ViewCounts(branch int64, date string) Key { return viewCounts.key(decimal(branch), date) }

var takenViews = declare(Decl{
	Pattern: "app:counter:taken:" + branchTag + ":%date%", Segments: []Segment{branchSegment, dateSegment},
	Type: Hash, TTL: TTL{time.Second, ViewCountLife}, Class: Lossy, Owner: "analytics", Tag: branchTag,
	Purpose: "counters that a process is writing to SQL: id: the batch; other fields as in app:counter:views",
})

// TakenViews returns the key of the counters of a business date that a process is writing to SQL.
func TakenViews(branch int64, date string) Key { return takenViews.key(decimal(branch), date) }

var memberViews = declare(Decl{
	Pattern: "views:user:%user%", Segments: []Segment{{"user", digits, 19}},
	Type: SortedSet, TTL: TTL{time.Second, SeenLife}, Class: Derived, Owner: "analytics", Source: "member_view",
	Rebuild: "analytics.history",
	Purpose: "dishes that a member has opened, scored by the newest time (Unix ms)",
})

// MemberViews returns the key of the dishes that a member has seen.
func MemberViews(user int64) Key { return memberViews.key(decimal(user)) }

// rankPeriod is the kind of a period and its last business date: d-2026-02-26 or w-2026-02-26.
var rankPeriod = Segment{"period", "09--ddww", 12}

var soldRank = declare(Decl{
	Pattern: "app:rank:sold:%branch%:%period%", Segments: []Segment{branchSegment, rankPeriod},
	Type: SortedSet, TTL: TTL{time.Second, RankLife}, Class: Derived, Owner: "analytics", Source: "order_info, order_item",
	Rebuild: "analytics.rank",
	Purpose: "dish, scored by units sold in the day (d) or the seven days (w) that end with the date",
})

// SoldRank returns the key of the ranking of a branch's dishes by units sold.
func SoldRank(branch int64, period string) Key { return soldRank.key(decimal(branch), period) }

var viewedRank = declare(Decl{
	Pattern: "app:rank:viewed:%branch%:%period%", Segments: []Segment{branchSegment, rankPeriod},
	Type: SortedSet, TTL: TTL{time.Second, RankLife}, Class: Derived, Owner: "analytics", Source: "dish_view",
	Rebuild: "analytics.rank",
	Purpose: "dish, scored by views in the day (d) or the seven days (w) that end with the date",
})

// ViewedRank returns the key of the ranking of a branch's dishes by views.
func ViewedRank(branch int64, period string) Key { return viewedRank.key(decimal(branch), period) }

var searches = declare(Decl{
	Pattern: "events:search:%date%", Segments: []Segment{dateSegment},
	Type: Stream, TTL: TTL{time.Second, SearchLife}, Class: Lossy, Owner: "analytics",
	Purpose: "searches of a business date in all branches, at most 10,000, which are added to search_day every few seconds: " +
		"branch, folded text, whether a dish was found, and a number of 1,024 for the visitor",
})

// Searches returns the key of the searches of a business date.
func Searches(date string) Key { return searches.key(date) }
