package keyspace

import "time"

// declared is a declaration with precomputed values.
type declared struct {
	Decl
	cut      []part
	document DocumentKey // result of ParseDocument without key and text; zero for other keys
	holding  Holding
}

var registry []*declared

func declare(d Decl) *declared {
	c := &declared{Decl: d, cut: d.parts()}
	registry = append(registry, c)
	return c
}

// Declarations returns the registry in the order of declaration.
func Declarations() []Decl {
	ds := make([]Decl, len(registry))
	for i, d := range registry {
		ds[i] = d.Decl
	}
	return ds
}

// Segments that several declarations use.
var (
	branchSegment = Segment{"branch", digits, 10}
	dateSegment   = Segment{"date", dateChars, 10}
)

const (
	branchTag = "{b%branch%}"

	// The maximum TTL of admission keys. A business day is opened at most two days before it begins and lasts up to 25
	// hours, and its counters are kept for 36 hours afterwards.
	scopeLife = (48 + 25 + 36) * time.Hour
)

// admission declares a key of the admission cache, which is rebuilt from SQL. The key is a hash of a scope, unless d
// has a type.
func admission(d Decl) *declared {
	d.Class, d.Owner, d.Tag, d.Rebuild = Derived, admissionOwner, branchTag, "stock.rebuild"
	if d.Type == "" {
		d.Type, d.TTL = Hash, TTL{time.Minute, scopeLife}
	}
	return declare(d)
}

var quotaCap = admission(Decl{
	Pattern: "q:cap:" + branchTag + ":%date%", Segments: []Segment{branchSegment, dateSegment}, Source: "sales_quota_counter",
	Purpose: "menu item -> cap or * (unlimited); ep: epoch; pos: snapshot (Unix ms); end: expiry of records; bld: build",
})

// QuotaCap returns the key of the caps of a business date.
func QuotaCap(branch int64, date string) Key { return quotaCap.key(decimal(branch), date) }

var quotaHeld = admission(Decl{
	Pattern: "q:rsv:" + branchTag + ":%date%", Segments: []Segment{branchSegment, dateSegment}, Source: "sales_quota_counter",
	Purpose: "menu item -> units held; ep: epoch",
})

// QuotaHeld returns the key of the held units of a business date.
func QuotaHeld(branch int64, date string) Key { return quotaHeld.key(decimal(branch), date) }

var quotaPaid = admission(Decl{
	Pattern: "q:paid:" + branchTag + ":%date%", Segments: []Segment{branchSegment, dateSegment}, Source: "sales_quota_counter",
	Purpose: "menu item -> units used; ep: epoch",
})

// QuotaPaid returns the key of the used units of a business date.
func QuotaPaid(branch int64, date string) Key { return quotaPaid.key(decimal(branch), date) }

var holdRecord = admission(Decl{
	Pattern: "ord:resv:" + branchTag + ":%hold%", Segments: []Segment{branchSegment, {"hold", uidChars, 26}},
	Source:  "hold",
	Purpose: "a hold: s: state and epoch; menu item -> quantity; __bizDate, __branchId; once the hold has ended, only s counts",
})

// HoldRecord returns the key of a hold's record.
func HoldRecord(branch int64, hold string) Key { return holdRecord.key(decimal(branch), hold) }

var leasesDue = admission(Decl{
	Pattern: "rsv:due:" + branchTag, Segments: []Segment{branchSegment}, Type: SortedSet, Source: "hold",
	Purpose: "provisional holds, not yet known to be committed in SQL, scored by their expiry (Unix ms)",
})

// LeasesDue returns the key of a branch's provisional holds, ordered by expiry.
func LeasesDue(branch int64) Key { return leasesDue.key(decimal(branch)) }

// RefusedSpan is the time span that one key of refused ids covers; an id is kept for one to two spans. That is
// longer than any request takes, so a late repetition of a refused request still finds its refusal.
const RefusedSpan = 10 * time.Second

var refusedIDs = declare(Decl{
	Pattern:  "rsv:no:" + branchTag + ":%third%",
	Segments: []Segment{branchSegment, {"third", "02", 1}},
	Type:     Set, TTL: TTL{RefusedSpan, 2 * RefusedSpan}, Class: Lossy, Owner: "stock", Tag: branchTag,
	Purpose: "recently refused ids; three keys rotate, one per time span, so that an id is written once",
})

// RefusedIDs returns the key of the ids refused in a span; spans are counted from the Unix epoch.
func RefusedIDs(branch, span int64) Key { return refusedIDs.key(decimal(branch), decimal(span%3)) }

// Stock of a branch in the admission cache: counted over days instead of per business date. See package stockredis.
var (
	stockCap = admission(Decl{
		Pattern: "inventory:cap:" + branchTag, Segments: []Segment{branchSegment}, Source: "inventory",
		Purpose: "stock item -> total of available, reserved and sold units; ep, pos, end, bld as in q:cap",
	})
	stockReserved = admission(Decl{
		Pattern: "inventory:reserved:" + branchTag, Segments: []Segment{branchSegment}, Source: "inventory",
		Purpose: "stock item -> units reserved; ep: epoch",
	})
	stockSold = admission(Decl{
		Pattern: "inventory:sold:" + branchTag, Segments: []Segment{branchSegment}, Source: "inventory",
		Purpose: "stock item -> units sold; ep: epoch",
	})
	reservation = admission(Decl{
		Pattern: "reservation:" + branchTag + ":%hold%", Segments: []Segment{branchSegment, {"hold", nameChars, 66}},
		Source: "hold", Long: true,
		Purpose: "the stock items held by an order, or by a reservation of another system (x- and its id); fields as in ord:resv",
	})
	reservationsDue = admission(Decl{
		Pattern: "reservation:due:" + branchTag, Segments: []Segment{branchSegment}, Type: SortedSet, Source: "hold",
		Purpose: "provisional holds of stock; as rsv:due",
	})
	hotInventory = declare(Decl{
		Pattern:  "hot:inventory:" + branchTag + ":%item%",
		Segments: []Segment{branchSegment, {"item", nameChars, 64}},
		Type:     Hash, TTL: TTL{time.Second, time.Minute}, Class: Lossy, Owner: "stock", Source: "inventory",
		Tag: branchTag, Long: true,
		Invalidated: "a change of the item's units, which writes it again",
		Purpose:     "availability of a stock item for displays: available, lastUpdate",
	})
)

// HotInventory returns the key of the displayed availability of a stock item.
func HotInventory(branch int64, item string) Key { return hotInventory.key(decimal(branch), item) }

// StockCap returns the key of a branch's total stock: available, reserved and sold.
func StockCap(branch int64) Key { return stockCap.key(decimal(branch)) }

// StockReserved returns the key of a branch's reserved stock.
func StockReserved(branch int64) Key { return stockReserved.key(decimal(branch)) }

// StockSold returns the key of a branch's sold stock.
func StockSold(branch int64) Key { return stockSold.key(decimal(branch)) }

// Reservation returns the key of the stock items of a hold.
func Reservation(branch int64, hold string) Key { return reservation.key(decimal(branch), hold) }

// ReservationsDue returns the key of a branch's provisional stock reservations, ordered by expiry.
func ReservationsDue(branch int64) Key { return reservationsDue.key(decimal(branch)) }

// byReference is a capital letter that K3 forbids. The reference documents require it in byCustomer.
const byReference = "C"

var visitByCustomer = declare(Decl{
	Pattern:  "visit:byCustomer:%tokenHash%",
	Segments: []Segment{{"tokenHash", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Minute, 24 * time.Hour}, Class: Guarded, Owner: "visit", Source: "visit_guest, visit",
	Also: byReference, Rebuild: "visit.resolve",
	Purpose: "a guest's visit: visitId|branchId|tableId|valid until (Unix ms)|seal; sliding TTL, until the visit closes",
})

// VisitByCustomer returns the key of a guest's visit. It hashes the token.
func VisitByCustomer(token string) Key { return visitByCustomer.key(Secret(token)) }

var visitCustomers = declare(Decl{
	Pattern:  "visit:customers:%visit%",
	Segments: []Segment{{"visit", uidChars, 26}},
	Type:     Set, TTL: TTL{time.Minute, 8 * time.Hour}, Class: Guarded, Owner: "visit", Source: "visit_guest",
	Rebuild: "visit.resolve",
	Purpose: "hashes of the tokens of a visit's guests, whose keys are deleted when the visit closes",
})

// VisitCustomers returns the key of a visit's guests; its members are hashed by Secret.
func VisitCustomers(visit string) Key { return visitCustomers.key(visit) }

var menuActive = declare(Decl{
	Pattern:  "cis:menu:active:v2:%branch%",
	Segments: []Segment{branchSegment},
	Type:     String, TTL: TTL{time.Second, 5 * time.Minute}, Class: Lossy, Owner: "catalog",
	Source:      "menu_version, menu_version_item, menu_version_group, menu_version_choice, choice_off",
	Invalidated: "a changed menu; readers compare its revision with SQL",
	Purpose:     "the published menu as JSON with its seal; the TTL is about 3 minutes, with jitter",
})

// MenuActive returns the key of a branch's cached menu.
func MenuActive(branch int64) Key { return menuActive.key(decimal(branch)) }

var menuActiveLock = declare(Decl{
	Pattern:  "lock:cis:menu:active:v2:%branch%",
	Segments: []Segment{branchSegment},
	Type:     String, TTL: TTL{time.Second, 3 * time.Second}, Class: Lossy, Owner: "catalog",
	Purpose: "lock for loading the menu: a random token, compared before the key is deleted",
})

// MenuActiveLock returns the key of the lock that guards filling the cached menu.
func MenuActiveLock(branch int64) Key { return menuActiveLock.key(decimal(branch)) }

// Holding describes how the keys of a declaration relate to documents.
type Holding struct {
	Entity   string // entity of the key's document or of the ids in it; empty for unrelated keys
	Document bool   // the key is a document, named by entity, colon and id
	List     bool   // the key is the set of all ids
}

// DocumentOf returns the raw key of the document with an id.
func (h Holding) DocumentOf(id string) string { return h.Entity + ":" + id }

// Holdings returns the Holding of each of Declarations, in the same order, so that Redis can be checked without SQL.
func Holdings() []Holding {
	all := make([]Holding, len(registry))
	for i, d := range registry {
		all[i] = d.holding
	}
	return all
}
