package documentredis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

// onEach runs a test on every kind of Redis, with its own empty store.
func onEach(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { test(t, New(db)) })
}

// user returns an account, which is registered unless the values differ.
func user(t testing.TB, id string, version int64, v documenttest.Values) document.Document {
	t.Helper()
	v = maps.Clone(v)
	if v == nil {
		v = documenttest.Values{}
	}
	if v["registered"] == "" {
		v["registered"] = "1"
	}
	return documenttest.Doc(t, document.User, id, version, v)
}

func deletedDoc(e *document.Entity, id string, version int64) document.Document {
	return document.Document{Entity: e, ID: id, Version: version, Deleted: true}
}

// apply writes documents without concurrent writers.
func apply(t testing.TB, s *Store, docs ...document.Document) {
	t.Helper()
	a := testenv.Must(s.Apply(t.Context(), docs))(t)
	if len(a.Lost) > 0 {
		t.Fatalf("lost without a competitor: %v", a.Lost)
	}
}

// The counter of orders is the number of documents, whichever process has written them. The embedded store has one process.
func TestApply_counts_the_documents_of_other_processes(t *testing.T) {
	onEach(t, func(t *testing.T, first *Store) {
		second := first
		if !first.db.Embedded() {
			second = New(first.db)
		}
		for n, s := range []*Store{first, second, first, second, second, first} {
			apply(t, s, documenttest.Doc(t, document.Order, orderID(n), 1, nil))
			wantKeys(t, first, map[string]string{"order:counter": strconv.Itoa(n + 1)})
		}
	})
}

// valueOf returns the value of a key: a string unchanged, the members of a set sorted and joined with commas, "" for a
// missing key.
func valueOf(t testing.TB, s *Store, raw string) string {
	t.Helper()
	k, ok := keyspace.ParseDocument(raw)
	if !ok {
		t.Fatalf("%s is not declared", raw)
	}
	if k.Key.Decl().Type == keyspace.Set {
		members := testenv.Must(s.db.Do(t.Context(), "SMEMBERS", k.Key).Texts())(t)
		slices.Sort(members)
		return strings.Join(members, ",")
	}
	text, _ := testenv.Must2(s.db.Do(t.Context(), "GET", k.Key).Text())(t)
	return text
}

// wantKeys compares the values of keys; of documents it compares only the version.
func wantKeys(t testing.TB, s *Store, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for raw := range want {
		text := valueOf(t, s, raw)
		if version, ok := document.PeekField(text, "version"); ok && strings.HasPrefix(text, "{") {
			text = "v" + version
		}
		got[raw] = text
	}
	testenv.Equal(t, want, got)
}

// D1: an older version than the stored one changes nothing.
func TestStore_stale_writes_are_dropped(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		newer := user(t, "1", 7, documenttest.Values{"email": "new@example.com", "city": "hue"})
		older := user(t, "1", 6, documenttest.Values{"email": "old@example.com", "city": "hanoi"})
		apply(t, s, newer)
		apply(t, s, older)
		apply(t, s, deletedDoc(document.User, "1", 5))
		want := map[string]string{
			"user:1": "v7", "user:list": "1", "user:counter": "1",
			"user:index:email:new@example.com": "1", "user:index:city:hue": "1",
			"user:index:email:old@example.com": "", "user:index:city:hanoi": "",
			"memo:{user:1}": "7\nemail=new@example.com\ncity=hue",
		}
		wantKeys(t, s, want)
		apply(t, s, newer) // a repetition
		wantKeys(t, s, want)
	})
}

// D1: a deletion wins over every earlier version, and only a newer version replaces it.
func TestStore_tombstones(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		at := func(version int64) document.Document {
			return user(t, "2", version, documenttest.Values{"email": "two@example.com", "city": "hue"})
		}
		apply(t, s, at(3))
		apply(t, s, deletedDoc(document.User, "2", 4))
		nothing := map[string]string{
			"user:2": "", "user:list": "", "user:counter": "2", "user:index:email:two@example.com": "",
			"user:index:city:hue": "", "memo:{user:2}": "4 x\n-email=two@example.com\n-city=hue",
		}
		wantKeys(t, s, nothing)
		apply(t, s, at(3))
		apply(t, s, at(4)) // the row was deleted at this version
		wantKeys(t, s, nothing)
		ttl := testenv.Must(s.db.Do(t.Context(), "PTTL", keyspace.UserDocuments.Memo("2")).Int())(t)
		if most := keyspace.TombstoneLife.Milliseconds(); ttl <= most/2 || ttl > most {
			t.Errorf("the tombstone lives %d ms", ttl)
		}
		apply(t, s, at(5))
		wantKeys(t, s, map[string]string{
			"user:2": "v5", "user:list": "2", "user:index:email:two@example.com": "2",
			"memo:{user:2}": "5\nemail=two@example.com\ncity=hue",
		})
		if ttl, err := s.db.Do(t.Context(), "PTTL", keyspace.UserDocuments.Memo("2")).Int(); err != nil || ttl != -1 {
			t.Errorf("the memo of a document that came back goes in %d ms, %v", ttl, err)
		}
	})
}

// A deletion of unknown version takes the next version, or leaves an existing tombstone.
func TestStore_deletes_without_a_version(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		unknown := deletedDoc(document.User, "3", 0)
		apply(t, s, unknown)
		wantKeys(t, s, map[string]string{"memo:{user:3}": "0 x", "user:list": ""})
		apply(t, s, user(t, "3", 9, documenttest.Values{"city": "hue"}))
		apply(t, s, unknown)
		apply(t, s, unknown)
		wantKeys(t, s, map[string]string{"memo:{user:3}": "10 x\n-city=hue", "user:3": "", "user:index:city:hue": ""})
		apply(t, s, user(t, "3", 10, nil))
		wantKeys(t, s, map[string]string{"user:3": ""})
	})
}

// D2: an update removes the index entries of the previous version.
func TestStore_updates_need_no_old_document(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		apply(t, s, user(t, "4", 1, documenttest.Values{
			"email": "a@example.com", "username": "a", "province": "Thừa Thiên Huế", "registered": "0",
		}))
		wantKeys(t, s, map[string]string{
			"user:index:province:th%e1%bb%aba%20thi%c3%aan%20hu%e1%ba%bf": "4", "user:index:registered:no": "4",
		})
		testenv.NoError(t, s.db.Do(t.Context(), "DEL", keyspace.UserDocuments.Key("4")).Err())
		apply(t, s, user(t, "4", 2, documenttest.Values{"email": "b@example.com", "username": "a", "registered": "1"}))
		wantKeys(t, s, map[string]string{
			"user:4": "v2", "user:index:email:a@example.com": "", "user:index:email:b@example.com": "4",
			"user:index:username:a": "4", "user:index:registered:no": "",
			"user:index:province:th%e1%bb%aba%20thi%c3%aan%20hu%e1%ba%bf": "",
			"memo:{user:4}": "2\nemail=b@example.com\nusername=a",
		})
	})
}

// D3: a value that moves from one document to another belongs to the other one, whichever is written first.
func TestStore_unique_values_move(t *testing.T) {
	const email = "user:index:email:moved@example.com"
	from := func(t *testing.T) document.Document {
		return user(t, "5", 2, documenttest.Values{"email": "left@example.com"})
	}
	to := func(t *testing.T) document.Document {
		return user(t, "6", 2, documenttest.Values{"email": "moved@example.com"})
	}
	for name, order := range map[string][]func(*testing.T) document.Document{
		"the old owner first": {from, to}, "the new owner first": {to, from},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, s *Store) {
				apply(t, s, user(t, "5", 1, documenttest.Values{"email": "moved@example.com"}), user(t, "6", 1, nil))
				wantKeys(t, s, map[string]string{email: "5"})
				for _, d := range order {
					apply(t, s, d(t))
				}
				wantKeys(t, s, map[string]string{email: "6", "user:index:email:left@example.com": "5"})
			})
		})
	}
	onEach(t, func(t *testing.T, s *Store) { // a document that loses a value this way is returned, to be projected again
		apply(t, s, user(t, "5", 1, documenttest.Values{"email": "moved@example.com"}))
		a := testenv.Must(s.Apply(t.Context(), []document.Document{to(t)}))(t)
		testenv.Equal(t, []string{"user:5"}, refTexts(a.Displaced))
	})
}

func refTexts(refs []document.Ref) []string {
	texts := make([]string, len(refs))
	for i, r := range refs {
		texts[i] = r.String()
	}
	slices.Sort(texts)
	return texts
}

// Lists, relations and counters of entities with numbers and of those without.
func TestStore_lists_relations_counters(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		order := orderID(1)
		role := func(version int64, permissions string) document.Document {
			return documenttest.Doc(t, document.Role, "7", version, documenttest.Values{"name": "Chef", "permissionIds": permissions})
		}
		cart := func(id string) document.Document {
			return documenttest.Doc(t, document.Cart, id, 1, documenttest.Values{"userId": "70" + id})
		}
		apply(t, s, role(1, "[1,2,3]"), cart("8"), cart("12"),
			documenttest.Doc(t, document.CartDetail, "21", 1, documenttest.Values{"cartId": "8", "dishId": "3"}),
			documenttest.Doc(t, document.Order, order, 1, documenttest.Values{"userId": "708", "paymentRef": "VNPAY-Ab1"}),
			documenttest.Doc(t, document.OrderDetail, order+"-1", 1, documenttest.Values{"orderId": order}),
			documenttest.Doc(t, document.OrderDetail, order+"-2", 1, documenttest.Values{"orderId": order}))
		wantKeys(t, s, map[string]string{
			"role:7:permissions": "1,2,3", "role:index:name:Chef": "7", "role:list": "7", "role:counter": "7",
			"cart:list": "12,8", "cart:counter": "12", "cart:index:user:708": "8", "user:7012:cart": "12",
			"cart:8:items": "21", "cartDetail:index:cart:8": "21", "cartDetail:counter": "21",
			"order:index:user:708": order, "user:708:orders": order, "order:index:paymentRef:VNPAY-Ab1": order,
			"order:counter": "1", "order:" + order + ":details": order + "-1," + order + "-2", "orderDetail:counter": "2",
		})
		apply(t, s, role(2, "[2,4]"), deletedDoc(document.Cart, "12", 2), deletedDoc(document.CartDetail, "21", 2),
			deletedDoc(document.OrderDetail, order+"-1", 2))
		wantKeys(t, s, map[string]string{
			"role:7:permissions": "2,4", "cart:list": "8", "cart:counter": "12", "user:7012:cart": "", "cart:index:user:7012": "",
			"cart:8:items": "", "cartDetail:index:cart:8": "", "cartDetail:list": "", "cartDetail:counter": "21",
			"orderDetail:list": order + "-2", "orderDetail:counter": "2", "order:" + order + ":details": order + "-2",
		})
	})
}

// The next writer repairs everything that a writer leaves behind when it dies between its round trips.
func TestStore_interrupted_writers(t *testing.T) {
	old := documenttest.Values{"email": "old@example.com", "city": "old"}
	dying := documenttest.Values{"email": "dying@example.com", "city": "dying"}
	next := documenttest.Values{"email": "next@example.com", "city": "next"}
	for at, exchanges := range map[string]int{"after begin": 1, "after enter": 2} {
		for name, last := range map[string]func(t *testing.T) document.Document{
			"newer":    func(t *testing.T) document.Document { return user(t, "9", 3, next) },
			"the same": func(t *testing.T) document.Document { return user(t, "9", 2, dying) },
			"deleted":  func(*testing.T) document.Document { return deletedDoc(document.User, "9", 3) },
		} {
			t.Run(at+", then "+name, func(t *testing.T) {
				onEach(t, func(t *testing.T, s *Store) {
					apply(t, s, user(t, "9", 1, old))
					r := s.newApplyRun([]document.Document{user(t, "9", 2, dying)})
					testenv.NoError(t, r.begin(t.Context()))
					if exchanges > 1 {
						testenv.NoError(t, r.updateIndexes(t.Context()))
					}
					d := last(t)
					apply(t, New(s.db), d) // another process
					wantExactly(t, s, d)
				})
			})
		}
	}
}

// wantExactly fails the test unless Redis holds these documents with their index entries, and nothing else.
func wantExactly(t testing.TB, s *Store, docs ...document.Document) {
	t.Helper()
	docs = slices.DeleteFunc(slices.Clone(docs), func(d document.Document) bool { return d.Deleted })
	seen := document.NewKeySet(1 << 16)
	found := testenv.Must(s.Compare(t.Context(), docs, seen))(t)
	for _, d := range found {
		t.Error(d)
	}
	for _, o := range orphans(t, s, docs, seen) {
		t.Error(o)
	}
}

// orphans returns the keys in Redis that belong to no document.
func orphans(t testing.TB, s *Store, docs []document.Document, seen *document.KeySet) (all []document.Difference) {
	t.Helper()
	expected := map[document.Ref]document.Document{}
	for _, d := range docs {
		expected[d.Ref()] = d
	}
	err := s.Walk(t.Context(), seen, func(_ context.Context, found []document.Difference) error {
		still, err := s.StillPresent(t.Context(), found)
		for _, d := range still {
			doc, ok := expected[d.Ref]
			if !ok || d.Kind == document.OrphanEntry && !slices.Contains(doc.IndexEntries, d.Entry) {
				all = append(all, d)
			}
		}
		return err
	})
	testenv.NoError(t, err)
	return all
}

// A slow writer that is overtaken removes what it has added, and reports that it has lost.
func TestStore_overtaken_writers(t *testing.T) {
	slow := documenttest.Values{"email": "slow@example.com", "city": "slow"}
	quick := documenttest.Values{"email": "quick@example.com", "city": "quick"}
	for name, winner := range map[string]func(t *testing.T) document.Document{
		"by a newer version": func(t *testing.T) document.Document { return user(t, "10", 3, quick) },
		"by a deletion":      func(*testing.T) document.Document { return deletedDoc(document.User, "10", 3) },
	} {
		for at, entered := range map[string]bool{"before its entries": false, "after its entries": true} {
			t.Run(name+" "+at, func(t *testing.T) {
				onEach(t, func(t *testing.T, s *Store) {
					apply(t, s, user(t, "10", 1, documenttest.Values{"email": "first@example.com"}))
					r := s.newApplyRun([]document.Document{user(t, "10", 2, slow)})
					testenv.NoError(t, r.begin(t.Context()))
					if entered {
						testenv.NoError(t, r.updateIndexes(t.Context()))
					}
					w := winner(t)
					apply(t, New(s.db), w)
					if !entered {
						testenv.NoError(t, r.updateIndexes(t.Context()))
					}
					testenv.NoError(t, r.finish(t.Context()))
					testenv.Equal(t, []string{"user:10"}, refTexts(r.applied.Lost))
					apply(t, s, w) // as the projector does with lost documents
					wantExactly(t, s, w)
				})
			})
		}
	}
}

// A slow writer adds an entry that a newer writer has just removed, before the newer one ends. The slow writer must
// remove the entry, because the newer one will not read it again.
func TestStore_overtaken_in_the_middle(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		slow := s.newApplyRun([]document.Document{user(t, "11", 2, documenttest.Values{"email": "slow@example.com", "city": "slow"})})
		newest := user(t, "11", 3, documenttest.Values{"email": "quick@example.com"})
		quick := New(s.db).newApplyRun([]document.Document{newest})
		testenv.NoError(t, slow.begin(t.Context()), quick.begin(t.Context()), quick.updateIndexes(t.Context()))
		wantKeys(t, s, map[string]string{"memo:{user:11}": "3\nemail=quick@example.com\n-email=slow@example.com\n-city=slow"})
		testenv.NoError(t, slow.updateIndexes(t.Context()), slow.finish(t.Context()), quick.finish(t.Context()))
		apply(t, s, newest) // as the projector does with lost documents
		wantExactly(t, s, newest)
	})
}

// D5: writers of many versions in any order leave the newest version with its entries.
func TestStore_racing_writers(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		const documents, versions, writers = 5, 12, 4
		at := func(id, version int) document.Document {
			name := string(rune('a'+id)) + string(rune('a'+version%3)) // values recur, but two documents never share one
			if version == versions/2 {
				return deletedDoc(document.User, digit(id+1), int64(version))
			}
			return user(t, digit(id+1), int64(version), documenttest.Values{"email": name + "@example.com", "city": string(rune('x' + version%2))})
		}
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				ownStore := New(s.db)
				for v := 1; v <= versions; v++ {
					for id := range documents {
						version := 1 + (v*(2*w+1)+id)%versions
						a, err := ownStore.Apply(t.Context(), []document.Document{at(id, version)})
						for err == nil && len(a.Lost) > 0 {
							a, err = ownStore.Apply(t.Context(), []document.Document{at(id, versions)})
						}
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		newest := make([]document.Document, documents)
		for id := range newest {
			newest[id] = at(id, versions)
		}
		apply(t, s, newest...)
		wantExactly(t, s, newest...)
	})
}

func digit(n int) string { return string(rune('0' + n)) }

// A round trip with Redis is bounded in commands and bytes, and no command is left out.
func TestStore_exchangeSize(t *testing.T) {
	s := &Store{step: stepServer}
	cmds := func(n, size int) []redisdb.Cmd {
		all := make([]redisdb.Cmd, n)
		for i := range all {
			all[i] = redisdb.Command("SET", keyspace.UserDocuments.Key("1"), strings.Repeat("x", size))
		}
		return all
	}
	for _, c := range []struct{ n, size, want int }{
		{0, 1, 0}, {1, 1, 1}, {stepServer, 1, stepServer}, {stepServer + 1, 1, stepServer}, {100, stepBytes / 10, 9},
		{2, 2 * stepBytes, 1}, {1, 2 * stepBytes, 1},
	} {
		if got := s.exchangeSize(cmds(c.n, c.size)); got != c.want {
			t.Errorf("of %d commands of %d bytes %d go together, want %d", c.n, c.size, got, c.want)
		}
	}
}

// A document whose JSON shows its version and entries has no memo, and is changed, deleted, restored and repaired like any
// other.
func TestStore_documents_without_memo(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		order := strings.Repeat("0", 26)
		line := document.Document{
			Entity: document.OrderDetail, ID: order + "-1", Version: 1,
			JSON:         `{"id":"` + order + `-1","orderId":"` + order + `","version":1}`,
			IndexEntries: []document.IndexEntry{{Index: document.OrderDetail.Indexes[0], Value: order}},
		}
		key, memo := "orderDetail:"+line.ID, "memo:{orderDetail:"+line.ID+"}"
		sets := func(member string) map[string]string {
			return map[string]string{
				"orderDetail:list": member, "order:" + order + ":details": member, "orderDetail:index:order:" + order: member,
			}
		}
		want := func(body, stored, member string) {
			t.Helper()
			all := sets(member)
			all[key], all[memo] = body, stored
			wantKeys(t, s, all)
		}
		apply(t, s, line)
		want("v1", "", line.ID)
		apply(t, s, line) // a repetition
		want("v1", "", line.ID)

		gone := deletedDoc(document.OrderDetail, line.ID, 0)
		apply(t, s, gone)
		want("", "2 x\n-order="+order, "")
		apply(t, s, line) // D1: the row was read before its deletion
		want("", "2 x\n-order="+order, "")

		// A restored backup has the row again.
		testenv.NoError(t, s.ResetVersions(t.Context(), []document.Ref{line.Ref()}))
		apply(t, s, line)
		want("v1", "", line.ID)

		// The previous release has written a memo.
		s.db.Do(t.Context(), "SET", document.OrderDetail.Keys.Memo(line.ID), "1\norder="+order)
		apply(t, s, line)
		want("v1", "", line.ID)
	})
}

// orderDoc is an order's document as documents are written, with an index entry for each value that is not empty.
func orderDoc(id string, version int64, user, ref string) document.Document {
	d := document.Document{Entity: document.Order, ID: id, Version: version}
	body := map[string]any{"userId": nil, "paymentRef": nil, "note": `"userId":"9"`}
	for i, value := range []string{user, ref} {
		x := document.Order.Indexes[i]
		if encoded, ok := x.Encode(value); ok {
			body[x.Field] = value
			d.IndexEntries = append(d.IndexEntries, document.IndexEntry{Index: x, Value: encoded})
		}
	}
	fields, _ := json.Marshal(body) //nolint:errchkjson // texts
	d.JSON = fmt.Sprintf(`%s,"version":%d}`, strings.TrimSuffix(string(fields), "}"), version)
	return d
}

// Changes of an order without a memo find the entries that it had, in any order of writers.
func TestStore_orders_without_memo(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		id := strings.Repeat("1", 26)
		const memo = "memo:{order:11111111111111111111111111}"
		want := func(version int64, stored, userSeven, userEight, refA, refB string) {
			t.Helper()
			wantKeys(t, s, map[string]string{
				"order:" + id: map[bool]string{true: fmt.Sprint("v", version)}[version > 0], memo: stored, "order:index:user:7": userSeven, "order:index:user:8": userEight,
				"order:index:paymentRef:A": refA, "order:index:paymentRef:b%2fc": refB,
			})
		}
		apply(t, s, orderDoc(id, 1, "7", ""))
		want(1, "", id, "", "", "")
		apply(t, s, orderDoc(id, 2, "7", "A"))
		want(2, "", id, "", id, "")
		apply(t, s, orderDoc(id, 1, "8", "")) // an older row, read late
		want(2, "", id, "", id, "")
		apply(t, s, orderDoc(id, 3, "8", "A"))
		want(3, "3\nuser=8\npaymentRef=A", "", id, id, "") // entries were removed
		apply(t, s, orderDoc(id, 4, "8", "A"))
		want(4, "", "", id, id, "")
		// A value that the index encodes is not shown as it is stored.
		apply(t, s, orderDoc(id, 5, "8", "b/c"))
		want(5, "5\nuser=8\npaymentRef=b%2fc", "", id, "", id)
		apply(t, s, orderDoc(id, 6, "8", "A"))
		apply(t, s, orderDoc(id, 7, "8", "A"))
		want(7, "", "", id, id, "")

		// A restored backup has an older version with another user.
		testenv.NoError(t, s.ResetVersions(t.Context(), []document.Ref{{Entity: document.Order, ID: id}}))
		apply(t, s, orderDoc(id, 2, "7", ""))
		want(2, "2\nuser=7", id, "", "", "")
		apply(t, s, orderDoc(id, 3, "7", ""))
		apply(t, s, deletedDoc(document.Order, id, 0))
		want(0, "4 x\n-user=7", "", "", "", "")
	})
}
