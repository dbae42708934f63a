package keyspace

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

const aUID = "01j9v0k4v5m6n7o8p9q0r1s2t3"

// every returns one key of each declaration.
func every() []Key {
	return append(everyDocument(), []Key{
		QuotaCap(7, "2026-02-26"), QuotaHeld(7, "2026-02-26"), QuotaPaid(7, "2026-02-26"), HoldRecord(7, aUID), LeasesDue(7),
		RefusedIDs(7, 179_000_000), StockCap(7), StockReserved(7), StockSold(7), Reservation(7, "x-Order.2026_02-26"),
		ReservationsDue(7), HotInventory(7, "Beer-0.5_l"), VisitByCustomer("a token"), VisitCustomers(aUID), MenuActive(7), MenuActiveLock(7),
		Rate("login_acct_ip", "192.0.2.7"),
		Session(aUID), RefreshToken(aUID), RevokedToken("an id"), OneTimeCode("verify", 12),
		ViewCounts(7, "2026-02-26"), TakenViews(7, "2026-02-26"), MemberViews(12), SoldRank(7, "d-2026-02-26"), ViewedRank(7, "w-2026-02-26"),
		Searches("2026-02-26"), LoginDay("2026-02-26"), LoginUnion(1), OnlineMembers(), OnlineGuests(7),
		ReportCache.Value(CacheList, 7, aHash), ReportCache.Tags(7), ReportCache.Lock(7, aHash),
		OrderCache.Value(CacheCount, 7, aHash), OrderCache.Tags(7), OrderCache.Lock(7, aHash),
		UserCache.Value(CacheCount, 0, aHash), UserCache.Tags(0), UserCache.Lock(0, aHash),
		DishCache.Value(CacheDetail, 0, aHash), DishCache.Value(CacheList, 0, aHash), DishCache.Tags(0), DishCache.Lock(0, aHash),
		BranchCache.Value(CacheDetail, 7, aHash), BranchCache.Tags(7), BranchCache.Lock(7, aHash),
	}...)
}

// aHash is the hash of some request.
var aHash = Secret("a request")

func TestBuilders(t *testing.T) {
	var got []string
	for _, k := range every()[len(everyDocument()):] {
		if !k.Valid() {
			t.Errorf("an invalid key of %s", k.Decl().Pattern)
		}
		got = append(got, k.String())
	}
	want := []string{
		"q:cap:{b7}:2026-02-26", "q:rsv:{b7}:2026-02-26", "q:paid:{b7}:2026-02-26", "ord:resv:{b7}:" + aUID, "rsv:due:{b7}",
		"rsv:no:{b7}:2", "inventory:cap:{b7}", "inventory:reserved:{b7}", "inventory:sold:{b7}",
		"reservation:{b7}:x-Order.2026_02-26", "reservation:due:{b7}", "hot:inventory:{b7}:Beer-0.5_l",
		"visit:byCustomer:" + Secret("a token"), "visit:customers:" + aUID,
		"cis:menu:active:v2:7", "lock:cis:menu:active:v2:7",
		"app:rate:login_acct_ip:" + Secret("192.0.2.7"),
		"app:session:" + aUID, "app:token:refresh:" + Secret(aUID), "app:token:blacklist:" + Secret("an id"),
		"app:temp:otp:verify:12",
		"app:counter:views:{b7}:2026-02-26", "app:counter:taken:{b7}:2026-02-26", "views:user:12",
		"app:rank:sold:7:d-2026-02-26", "app:rank:viewed:7:w-2026-02-26", "events:search:2026-02-26",
		"app:analytics:daily:{login}:2026-02-26", "app:analytics:union:{login}:1", "app:counter:online:users",
		"app:counter:online:guests:7",
		"app:cache:{report:7}:list:" + aHash, "app:tags:{report:7}", "app:lock:{report:7}:" + aHash,
		"app:cache:{order:7}:count:" + aHash, "app:tags:{order:7}", "app:lock:{order:7}:" + aHash,
		"app:cache:{user}:count:" + aHash, "app:tags:{user}", "app:lock:{user}:" + aHash,
		"app:cache:{dish}:detail:" + aHash, "app:cache:{dish}:list:" + aHash, "app:tags:{dish}", "app:lock:{dish}:" + aHash,
		"app:cache:{branch:7}:detail:" + aHash, "app:tags:{branch:7}", "app:lock:{branch:7}:" + aHash,
	}
	testenv.Equal(t, want, got)
}

func TestBuilders_refuse(t *testing.T) {
	for name, k := range map[string]Key{
		"negative branch":      QuotaCap(-7, "2026-02-26"),
		"branch of 11 digits":  MenuActive(10_000_000_000),
		"empty date":           QuotaHeld(7, ""),
		"date with a colon":    QuotaPaid(7, "26:02"),
		"hold with a brace":    HoldRecord(7, "{b8}"),
		"hold of 27 letters":   HoldRecord(7, aUID+"0"),
		"upper-case visit":     VisitCustomers(strings.ToUpper(aUID)),
		"the zero key":         {},
		"span before the time": RefusedIDs(7, -1),
		"stock of branch -1":   StockCap(-1),
		"stock of 11 digits":   StockSold(10_000_000_000),
		"a kind not declared":  ReportCache.Value(CacheCount, 7, aHash),
		"a cached value's id":  DishCache.Value(CacheDetail, 0, "12"),
		"foreign id, a space":  Reservation(7, "x-a b"),
		"foreign id, a brace":  Reservation(7, "x-{b8}"),
		"foreign id, a colon":  Reservation(7, "x-due:{b7}"),
		"foreign id, not text": Reservation(7, "x-\xff"),
		"no foreign id":        Reservation(7, ""),
		"foreign id too long":  Reservation(7, "x-"+strings.Repeat("a", 65)),
	} {
		if k.Valid() {
			t.Errorf("%s returned the key %s", name, k)
		}
	}
}

func TestParse(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range every() {
		parsed, ok := Parse(k.String())
		if !ok || parsed != k {
			t.Errorf("Parse(%s) = %q, %t", k, parsed.Decl().Pattern, ok)
		}
		seen[parsed.Decl().Pattern] = true
	}
	for _, d := range Declarations() {
		if !seen[d.Pattern] {
			t.Errorf("no builder was tried for %s", d.Pattern)
		}
	}
	for _, raw := range []string{
		"", "q:cap:{b7}", "inventory:cap:{b7}:2026-02-26", "reservation:{b7}:", "q:cap:b7:2026-02-26", "x:q:cap:{b7}:2026-02-26", "ord:resv:{b7}:" + aUID + "0",
	} {
		if k, ok := Parse(raw); ok {
			t.Errorf("Parse(%q) is a key of %s", raw, k.Decl().Pattern)
		}
	}
}

// Every row of the document is a single table row, whatever its text contains.
func TestMarkdown(t *testing.T) {
	keys, rest, _ := strings.Cut(Markdown(), "## Abbreviations")
	short, channels, _ := strings.Cut(rest, "# Redis channels")
	for _, table := range []struct {
		text        string
		cells, rows int
	}{{keys, 9, len(Declarations())}, {short, 2, len(Legend())}, {channels, 5, len(Channels())}} {
		rows := 0
		for line := range strings.Lines(table.text) {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			rows++
			if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1; cells != table.cells {
				t.Errorf("%d cells: %s", cells, line)
			}
		}
		testenv.Equal(t, table.rows+2, rows)
	}
}

func TestSecret(t *testing.T) {
	s := Secret("correct horse battery staple")
	if !regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(s) {
		t.Errorf("Secret = %q", s)
	}
	if s == Secret("correct horse battery stapl") {
		t.Error("two secrets share a segment")
	}
	// The published SHA-256 of the empty text, e3b0c442 98fc1c14 9afbf4c8 996fb924 27, in base32 (RFC 4648).
	if got, want := Secret(""), "4oymiquy7qobjgx36tejs35zeq"; got != want {
		t.Errorf("Secret(\"\") = %q, want %q", got, want)
	}
}

func TestNamespace(t *testing.T) {
	k := LeasesDue(7)
	for in, want := range map[string]string{"": "rsv:due:{b7}", "north": "north:rsv:due:{b7}"} {
		ns := testenv.Must(ParseNamespace(in))(t)
		testenv.Equal(t, want, ns.Wire(k))
		if raw, ok := ns.Strip(ns.Wire(k)); !ok || raw != k.String() {
			t.Errorf("Strip = %q, %t", raw, ok)
		}
		if Slot(ns.Wire(k)) != k.Slot() {
			t.Errorf("the namespace %q moves keys to another slot", in)
		}
	}
	if _, ok := Namespace("north").Strip("south:rsv:due:{b7}"); ok {
		t.Error("a key of another namespace was taken for ours")
	}
	for _, bad := range []string{"a:b", "{x}", "UPPER", "seventeen-letters", " "} {
		if _, err := ParseNamespace(bad); err == nil {
			t.Errorf("the namespace %q was accepted", bad)
		}
	}
}

// Slots as published in the Redis Cluster specification and its test suite.
func TestSlot(t *testing.T) {
	for key, want := range map[string]uint16{
		"123456789": 12739, "": 0, "foo": 12182, "{user1000}.following": 3443, "user1000": 3443,
		"foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "foo{bar}{zap}": 5061, "bar": 5061,
	} {
		if got := Slot(key); got != want {
			t.Errorf("Slot(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestSlot_admission_keys_of_a_branch_meet(t *testing.T) { // K6
	rapid.Check(t, func(t *rapid.T) {
		branch := rapid.Int64Range(0, 9_999_999_999).Draw(t, "branch")
		want := LeasesDue(branch).Slot()
		hold := rapid.StringMatching(`[0-9a-v]{26}`).Draw(t, "hold")
		externalID := rapid.StringMatching(`[0-9A-Za-z._-]{1,64}`).Draw(t, "reservation")
		for _, k := range []Key{
			QuotaCap(branch, "2026-02-26"), QuotaHeld(branch, "2026-02-27"), HoldRecord(branch, hold),
			StockCap(branch), StockReserved(branch), StockSold(branch), ReservationsDue(branch), Reservation(branch, "x-"+externalID),
		} {
			if !k.Valid() || len(k.String()) > maxLen && !k.Decl().Long || k.Slot() != want {
				t.Errorf("%s: %d characters, slot %d instead of %d", k, len(k.String()), k.Slot(), want)
			}
		}
	})
}
