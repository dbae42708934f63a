package keyspace

import "time"

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
	Purpose: "members, scored by their last sign (Unix ms)",
})

// OnlineMembers returns the key of the members who are online.
func OnlineMembers() Key { return onlineMembers.key() }

var onlineGuests = declare(Decl{
	Pattern: "app:counter:online:guests:%branch%", Segments: []Segment{branchSegment},
	Type: SortedSet, TTL: TTL{time.Second, OnlineLife}, Class: Lossy, Owner: "analytics",
	Purpose: "hashes of guests' tokens, scored by their last sign (Unix ms)",
})

// OnlineGuests returns the key of the guests who are in a branch.
func OnlineGuests(branch int64) Key { return onlineGuests.key(decimal(branch)) }
