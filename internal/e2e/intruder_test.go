package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"comanda/internal/testenv"
)

// intruder is an attacker with write access to an installation's Redis.
type intruder struct {
	t      *testing.T
	client rueidis.Client
}

func newIntruder(t *testing.T, s *installation) *intruder {
	t.Helper()
	c := testenv.Must(rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{s.redis.Addr()}, DisableCache: true, ForceSingleClient: true,
	}))(t)
	t.Cleanup(c.Close)
	return &intruder{t, c}
}

func (i *intruder) do(words ...string) rueidis.RedisResult {
	i.t.Helper()
	r := i.client.Do(i.t.Context(), i.client.B().Arbitrary(words...).Build())
	if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
		i.t.Fatalf("redis %v: %v", words, err)
	}
	return r
}

// keys lists all keys by SCAN, sorted by name.
func (i *intruder) keys() (all []string) {
	i.t.Helper()
	for cursor := uint64(0); ; {
		page := testenv.Must(i.do("SCAN", fmt.Sprint(cursor), "COUNT", "1000").AsScanEntry())(i.t)
		all = append(all, page.Elements...)
		if cursor = page.Cursor; cursor == 0 {
			slices.Sort(all)
			return slices.Compact(all)
		}
	}
}

var (
	idInKey = regexp.MustCompile(`[0-9a-z]{22,}|[0-9]+(-[0-9]+)*`)
	number  = regexp.MustCompile(`[0-9]{4,}`)
)

// siblings returns the keys by kind: names that differ only in their ids.
func (i *intruder) siblings() map[string][]string {
	kinds := map[string][]string{}
	for _, key := range i.keys() {
		kind := idInKey.ReplaceAllString(key, "%")
		kinds[kind] = append(kinds[kind], key)
	}
	return kinds
}

func (i *intruder) kindOf(key string) string {
	return testenv.Must(i.do("TYPE", key).ToString())(i.t)
}

func (i *intruder) text(key string) string {
	text, _ := i.do("GET", key).ToString() // may be gone meanwhile
	return text
}

func (i *intruder) hash(key string) map[string]string {
	return testenv.Must(i.do("HGETALL", key).AsStrMap())(i.t)
}

// fields lists the names of the fields of all hashes of a kind of key.
func (i *intruder) fields(keys []string) []string {
	names := map[string]bool{}
	for _, key := range keys {
		for name := range i.hash(key) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// swap writes the value of each key into the next key of its kind.
func (i *intruder) swap() {
	for _, keys := range i.siblings() {
		n := len(keys)
		switch i.kindOf(keys[0]) {
		case "string":
			texts := make([]string, n)
			for j, key := range keys {
				texts[j] = i.text(key)
			}
			for j, key := range keys {
				i.do("SET", key, texts[(j+1)%n], "KEEPTTL")
			}
		case "hash":
			all := make([]map[string]string, n)
			for j, key := range keys {
				all[j] = i.hash(key)
			}
			for j, key := range keys {
				for name, v := range all[(j+1)%n] {
					i.do("HSET", key, name, v)
				}
			}
		case "set":
			for _, key := range keys {
				for _, other := range keys {
					i.do("SUNIONSTORE", key, key, other)
				}
			}
		case "zset":
			for _, key := range keys {
				i.do("ZADD", key, "1", "x")
			}
		}
	}
}

// overwrite replaces each string and each hash field, one after the other, by the result of change.
func (i *intruder) overwrite(change func(name, value string) string) {
	for _, keys := range i.siblings() {
		for _, key := range keys {
			switch i.kindOf(key) {
			case "string":
				i.do("SET", key, change("", i.text(key)), "KEEPTTL")
			case "hash":
				for name, v := range i.hash(key) {
					i.do("HSET", key, name, change(name, v))
				}
			}
		}
	}
}

// field sets one field of all hashes that have it.
func (i *intruder) field(name, value string) {
	for _, keys := range i.siblings() {
		if i.kindOf(keys[0]) != "hash" {
			continue
		}
		for _, key := range keys {
			if _, has := i.hash(key)[name]; has {
				i.do("HSET", key, name, value)
			}
		}
	}
}

// An attacker who can write to Redis, and has an account and a table of their own, gains nothing: no permission, no
// data of others, no money. The worst outcome is a refusal. Each round writes different values into every key, before a
// request to a process that has cached nothing of the attacker.
func TestIntruder_writes_to_Redis(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.quota(pho, 3)
		owner, cook, otherBranch := s.createStaff("owner", ""), s.createStaff("kitchen", "1"), s.createStaff("manager", "2")
		lan, minh := s.newPerson("lan"), s.newPerson("minh")
		minh.send(http.MethodPost, "/cart/items", map[string]any{"dishId": s.bill.dish(phoGa).DishID, "quantity": 1})
		other := s.guest(1)
		o := other.mustPlace(t, line{ItemID: phoGa, Qty: 2})
		s.pay(o.ID)
		owner.wantAccepted()
		otherBranch.wantAccepted()
		s.awaitPublished()
		s.awaitDocuments()

		i := newIntruder(t, s)
		i.shareMenu(s)
		known := i.siblings()
		for _, kind := range []string{"app:session:%", "visit:byCustomer:%", "cis:menu:active:v%:%", "order:%", "user:%"} {
			if len(known[kind]) == 0 {
				t.Errorf("no key such as %s was written; there are %v", kind, slices.Sorted(maps.Keys(known)))
			}
		}
		ownerSession := i.sessionOf(owner.id)
		rounds := map[string]func(){
			"values of neighbours": i.swap,
			"ones":                 func() { i.overwrite(func(string, string) string { return "1" }) },
			"cheap":                func() { i.overwrite(func(_, v string) string { return number.ReplaceAllString(v, "1") }) },
			"other people":         func() { i.overwrite(func(_, v string) string { return strings.ReplaceAll(v, "1", "2") }) },
			"another guest's visit": func() {
				otherGuest := i.text(i.guestOf(other.visit))
				for _, key := range i.siblings()["visit:byCustomer:%"] {
					i.do("SET", key, otherGuest, "KEEPTTL")
				}
				for _, key := range i.siblings()["visit:customers:%"] {
					for _, more := range i.siblings()["visit:customers:%"] {
						i.do("SUNIONSTORE", key, key, more)
					}
				}
			},
			"a menu of one's own, before a start": func() {
				menu := i.shareMenu(s)
				s.last().stop()
				i.do("SET", menu, number.ReplaceAllString(i.text(menu), "1"), "KEEPTTL")
				s.last().start()
			},
			"nothing": func() {
				for _, key := range i.keys() {
					i.do("DEL", key)
				}
			},
		}
		for _, name := range i.fields(known["app:session:%"]) { // each field alone, from the owner's session
			rounds["a session's "+name] = func() { i.field(name, ownerSession[name]) }
		}
		i.try(s, rounds, []*person{cook, &lan}, other, o)

		// A value that was valid before: the account's former role.
		otherBranch.logIn()
		key := "app:session:" + i.sessionKey(otherBranch.id)
		withdrawn := i.hash(key)
		post := map[string]any{"roleId": owner.roles()["KITCHEN"], "branches": []string{"1"}}
		owner.sendTo(s.first(), http.MethodPost, "/api/users/"+otherBranch.id+"/role", post).want(t, http.StatusOK, "")
		for name, v := range withdrawn {
			i.do("HSET", key, name, v)
		}
		otherBranch.wantRefused()
		for name, v := range withdrawn {
			i.do("HSET", key, name, v)
		}
		for _, v := range s.servers {
			otherBranch.sendTo(v, http.MethodGet, "/api/users", nil).want(t, http.StatusUnauthorized, "unauthenticated")
		}
		s.last().stop()
		s.last().start()
		otherBranch.sendTo(s.last(), http.MethodGet, "/api/users", nil).want(t, http.StatusUnauthorized, "unauthenticated")
		s.awaitConsistent()
	}, pair)
}

// shareMenu waits until a server has stored its copy of the menu in Redis, and returns the key. An invalidation that
// arrives after the copy was stored deletes it until the next revision, so each try makes one.
func (i *intruder) shareMenu(s *installation) (key string) {
	i.t.Helper()
	key = "cis:menu:active:v2:" + firstBranch
	daily := 100
	s.await(patience, func() error {
		daily++
		s.quota(bun, daily)
		s.sendTo(s.first().addr, http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
		if i.text(key) == "" {
			return errors.New("the menu is not in Redis")
		}
		return nil
	})
	return key
}

// guestOf returns the key of a guest of a visit.
func (i *intruder) guestOf(visit string) string {
	i.t.Helper()
	for _, key := range i.siblings()["visit:byCustomer:%"] {
		if strings.HasPrefix(i.text(key), visit+"|") {
			return key
		}
	}
	i.t.Fatalf("there is no guest of %s", visit)
	return ""
}

// sessionKey returns the last part of the key of an account's session; sessionOf returns the key's value.
func (i *intruder) sessionKey(user string) string {
	i.t.Helper()
	for _, key := range i.siblings()["app:session:%"] {
		if i.hash(key)["userId"] == user {
			return strings.TrimPrefix(key, "app:session:")
		}
	}
	i.t.Fatalf("there is no session of %s", user)
	return ""
}

func (i *intruder) sessionOf(user string) map[string]string {
	return i.hash("app:session:" + i.sessionKey(user))
}

// try requests foreign objects with the installation's accounts after each round of writes.
func (i *intruder) try(s *installation, rounds map[string]func(), people []*person, other guest, o order) {
	i.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(rounds)) {
		for _, p := range people { // a new access token, which the other process has not cached
			p.storeTokens(s.refresh(s.first(), p.refresh))
		}
		var landed struct {
			Token string `json:"customerToken"`
			Visit string `json:"visitId"`
		}
		s.sendTo(s.first().addr, http.MethodPost, "/cis/landing", map[string]string{"qr": s.tables[0].QR}).into(i.t, &landed)
		s.quota(pho, 3) // changes the menu's revision, so that it is read again
		s.sendTo(s.first().addr, http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
		rounds[name]()

		refused := func(a answer) {
			i.t.Helper()
			if a.status < 400 || a.status == http.StatusInternalServerError {
				i.t.Errorf("after %s: %v, want a refusal", name, a)
			}
		}
		for _, p := range people {
			for _, path := range []string{
				"/api/users", "/api/audit", "/api/roles", "/api/reports/sales?branchId=1", "/api/orders/" + o.ID + "?branchId=2",
				"/api/branches/2/pause", "/orders/" + o.ID,
			} {
				if p.email == people[0].email && strings.HasPrefix(path, "/api/orders/") {
					continue // cooks may see this
				}
				refused(p.sendTo(s.last(), http.MethodGet, path, nil))
			}
			refused(p.sendTo(s.last(), http.MethodPost, "/api/orders/"+o.ID+"/refund", map[string]any{"reason": "mine"}))
			refused(p.sendTo(s.last(), http.MethodPost, "/api/users/"+people[0].id+"/role", map[string]any{"roleId": "1"}))
			if a := p.me(s.last()); a.status == http.StatusOK && !strings.Contains(string(a.body), p.email) {
				i.t.Errorf("%s: %s is %v", name, p.email, a)
			}
			if a := p.sendTo(s.last(), http.MethodGet, "/cart", nil); a.status == http.StatusOK && strings.Contains(string(a.body), `"quantity":1`) {
				i.t.Errorf("%s: %s has another account's cart: %v", name, p.email, a)
			}
		}
		asGuest := func(method, path string, body any) answer {
			return s.sendTo(s.last().addr, method, path, body, "X-Customer-Token", landed.Token)
		}
		refused(asGuest(http.MethodGet, "/cis/order/"+o.ID, nil))
		refused(asGuest(http.MethodGet, "/cis/visit/"+other.visit+"/orders", nil))
		refused(asGuest(http.MethodPost, "/cis/order/"+o.ID+"/cancel", map[string]string{}))
		g := guest{s, landed.Token, landed.Visit}
		w := g.request(line{ItemID: pho, Qty: 4})
		w.MenuVersionID = s.bill.Version
		refused(asGuest(http.MethodPost, "/cis/order/create", w)) // only three are left
		w = g.request(line{ItemID: phoGa, Qty: 1})
		if a := asGuest(http.MethodPost, "/cis/order/create", w); a.status == http.StatusCreated {
			if got := a.order(i.t); got.Total != s.price(w.Items) {
				i.t.Errorf("%s: an order costs %d, want %d", name, got.Total, s.price(w.Items))
			}
		} else if a.status < 400 || a.status == http.StatusInternalServerError {
			i.t.Errorf("%s: an order is answered %v", name, a)
		}
	}
}
