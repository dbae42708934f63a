package documentredis

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// wanted is a key of restaurant-redis.md, with its type and its expected value.
type wanted struct {
	key  string
	kind keyspace.Type
	hold string // value of a string, or sorted members of a set; "" for a document, which is compared separately
}

// TestReference goes through the nine models of restaurant-redis.md, section by section: after its flows, its keys
// exist with the documented types.
func TestReference(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		order := orderID(1)
		fill(t, r, order)
		for _, section := range []struct {
			name   string
			keys   []wanted
			fields string // names of the document's fields, sorted
			values map[string]string
		}{
			{"2.1 Cart", []wanted{
				{"cart:123", keyspace.String, ""}, {"cart:index:user:456", keyspace.String, "123"},
				{"user:456:cart", keyspace.String, "123"}, {"cart:123:items", keyspace.Set, "456,457"},
				{"cart:counter", keyspace.String, "123"}, {"cart:list", keyspace.Set, "123"},
			}, "createdAt createdBy id updatedAt updatedBy userId version", map[string]string{"id": "123", "userId": "456", "version": "1"}},
			{"2.2 CartDetail", []wanted{
				{"cartDetail:456", keyspace.String, ""}, {"cartDetail:index:cart:123", keyspace.Set, "456,457"},
				{"cartDetail:list", keyspace.Set, "456,457"}, {"cartDetail:counter", keyspace.String, "457"},
			}, "cartId dishId id price quantity total version", map[string]string{"id": "456", "cartId": "123", "dishId": "789", "quantity": "2", "price": "1000", "total": "2000"}},
			{"2.3 Order", []wanted{
				{"order:" + order, keyspace.String, ""}, {"order:index:user:456", keyspace.Set, order},
				{"user:456:orders", keyspace.Set, order}, {"order:index:paymentRef:VNPAY123", keyspace.String, order},
				{"order:list", keyspace.Set, order}, {"order:counter", keyspace.String, "1"},
			}, "bizDate branchId cancelReason canceledAt createdAt currency id kind number paidAt payBy paymentMethod paymentRef " +
				"paymentStatus receiverAddress receiverEmail receiverName receiverPhone status totalPrice updatedAt userId version visitId", map[string]string{
				"id": order, "userId": "456", "totalPrice": "130000", "status": "PLACED", "paymentMethod": "VNPAY", "paymentStatus": "UNPAID",
				"paymentRef": "VNPAY123",
			}},
			{"2.4 OrderDetail", []wanted{
				{"orderDetail:" + order + "-1", keyspace.String, ""},
				{"order:" + order + ":details", keyspace.Set, order + "-1," + order + "-2"},
				{"orderDetail:index:order:" + order, keyspace.Set, order + "-1," + order + "-2"},
				{"orderDetail:list", keyspace.Set, order + "-1," + order + "-2"}, {"orderDetail:counter", keyspace.String, "2"},
			}, "dishId id itemId notes orderId price quantity version", map[string]string{"id": order + "-1", "orderId": order, "dishId": "789", "quantity": "2", "price": "65000"}},
			{"2.5 User", []wanted{
				{"user:456", keyspace.String, ""}, {"user:index:email:user@example.com", keyspace.String, "456"},
				{"user:index:username:johndoe", keyspace.String, "456"},
				{"user:index:phone:+966501234567", keyspace.String, "456"},
				{"user:index:device:device-123", keyspace.String, "456"}, {"user:index:google:1076", keyspace.String, "456"},
				{"user:index:province:riyadh", keyspace.Set, "456"}, {"user:index:city:riyadh", keyspace.Set, "456"},
				{"user:index:registered:no", keyspace.Set, "456"}, {"user:list", keyspace.Set, "456"},
				{"user:counter", keyspace.String, "456"},
			}, "accountStatus address age city createdAt createdBy deviceId email firstName gender geolocation googleId id " +
				"lastLogin occupation phone profile province registered roleId surname trustScore updatedAt updatedBy username version", map[string]string{
				"id": "456", "username": "johndoe", "email": "user@example.com", "phone": "+966501234567", "roleId": "1", "registered": "no",
			}},
			{"2.6 Dish", []wanted{
				{"dish:789", keyspace.String, ""}, {"dish:index:category:1", keyspace.Set, "789,790"},
				{"category:1:dishes", keyspace.Set, "789,790"}, {"dish:index:menu:yes", keyspace.Set, "789"}, {"dish:list", keyspace.Set, "789,790"},
				{"dish:counter", keyspace.String, "790"},
			}, "available branches categoryId createdAt createdBy currency description descriptions id imageUrl name names onMenu price " +
				"soldToday stock updatedAt updatedBy version", map[string]string{"id": "789", "name": "Phở", "categoryId": "1", "available": "yes"}},
			{"2.7 Category", []wanted{
				{"category:1", keyspace.String, ""}, {"category:list", keyspace.Set, "1"}, {"category:counter", keyspace.String, "1"},
			}, "createdAt createdBy description descriptions id name names sort updatedAt updatedBy version", map[string]string{"id": "1", "name": "Món Chính"}},
			{"2.8 Role", []wanted{
				{"role:1", keyspace.String, ""}, {"role:index:name:ADMIN", keyspace.String, "1"},
				{"role:1:permissions", keyspace.Set, "1,2,3"}, {"role:list", keyspace.Set, "1"},
				{"role:counter", keyspace.String, "1"},
			}, "createdAt createdBy description id name updatedAt updatedBy version", map[string]string{"id": "1", "name": "ADMIN"}},
			{"2.9 Permission", []wanted{
				{"permission:1", keyspace.String, ""}, {"permission:list", keyspace.Set, "1,2,3"},
				{"permission:counter", keyspace.String, "3"},
			}, "apiPath createdAt createdBy id method module name updatedAt updatedBy version", map[string]string{"id": "1", "name": "View Users", "apiPath": "/api/1", "method": "GET", "module": "TEST"}},
		} {
			t.Run(section.name, func(t *testing.T) {
				for _, w := range section.keys {
					w.check(t, r.redis)
				}
				doc, _ := testenv.Must2(r.redis.Do(t.Context(), "GET", keyOf(t, section.keys[0].key)).Text())(t)
				testenv.Equal(t, section.fields, fieldsOf(t, doc))
				wantValues(t, doc, section.values)
			})
		}
		r.wantClean(t)
	})
}

// wantValues checks values of a document.
func wantValues(t testing.TB, doc string, values map[string]string) {
	t.Helper()
	for name, want := range values {
		if got, _ := document.PeekField(doc, name); got != want {
			t.Errorf("%s is %q, not %q: %s", name, got, want, doc)
		}
	}
}

// TestReference_flows runs the operations of restaurant-redis.md one after the other, and checks which keys appear,
// their values, and which keys disappear ("").
func TestReference_flows(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		ctx, h, order := t.Context(), r.data, orderID(1)
		testenv.NoError(t, h.PutRole(ctx, 1, "USER"),
			h.PutUser(ctx, documenttest.User{ID: 7, Role: 1, Email: "an@example.com"}),
			h.PutCategory(ctx, 1, "Món Chính"), h.PutDish(ctx, 789, 1, "Phở"), h.PutDish(ctx, 790, 1, "Bún"))
		cart := map[string]string{
			"cart:index:user:7": "123", "user:7:cart": "123", "cart:123": "v1", "cart:counter": "123", "cart:list": "123",
			"cart:123:items": "456", "cartDetail:index:cart:123": "456", "cartDetail:list": "456", "cartDetail:counter": "456",
		}
		checkedOut := map[string]string{
			"cart:123": "", "cart:index:user:7": "", "user:7:cart": "", "cart:list": "", "cart:123:items": "",
			"cartDetail:index:cart:123": "", "cartDetail:list": "", "cartDetail:456": "", "cartDetail:457": "",
			"order:" + order: "v1", "order:index:user:7": order, "user:7:orders": order, "order:list": order, "order:counter": "1",
			"order:" + order + ":details":      order + "-1," + order + "-2",
			"orderDetail:index:order:" + order: order + "-1," + order + "-2",
			"orderDetail:list":                 order + "-1," + order + "-2",
			"order:index:paymentRef:VNPAY123":  order,
			"cart:counter":                     "123",
		}
		for _, flow := range []struct {
			name       string
			do         func() error
			keys       map[string]string
			doc        string // document whose values are compared
			wantValues map[string]string
		}{
			{"5.1 add a dish to the cart", func() error {
				return errors.Join(h.PutCart(ctx, 123, 7), h.PutDetail(ctx, 456, 123, 789, 2))
			}, cart, "cartDetail:456", map[string]string{"quantity": "2", "total": "2000", "cartId": "123", "dishId": "789"}},
			{"5.2 change the quantity", func() error { return h.PutDetail(ctx, 456, 123, 789, 3) }, cart,
				"cartDetail:456", map[string]string{"quantity": "3", "total": "3000"}},
			{"5.3 remove a dish from the cart", func() error { return h.DeleteDetail(ctx, 456) }, map[string]string{
				"cartDetail:456": "", "cart:123:items": "", "cartDetail:index:cart:123": "", "cartDetail:list": "",
				"cart:123": "v1", "cart:index:user:7": "123",
			}, "cart:123", map[string]string{"userId": "7"}},
			{"7.1 add dishes to the cart that is there", func() error {
				return errors.Join(h.PutDetail(ctx, 456, 123, 789, 1), h.PutDetail(ctx, 457, 123, 790, 1))
			}, map[string]string{"cart:index:user:7": "123", "cart:123:items": "456,457", "cartDetail:list": "456,457", "cartDetail:counter": "457"},
				"cartDetail:457", map[string]string{"dishId": "790", "quantity": "1"}},
			{"5.4 and 7.2 check out", func() error {
				return errors.Join(h.PutOrder(ctx, order, "PLACED", 7, "VNPAY123"), h.PutLine(ctx, order, 1, 789),
					h.PutLine(ctx, order, 2, 790), h.DeleteCart(ctx, 123))
			}, checkedOut, "orderDetail:" + order + "-2", map[string]string{"orderId": order, "dishId": "790", "price": "65000"}},
			{"7.3 a payment is reported", func() error { return h.PutOrder(ctx, order, "ACCEPTED", 7, "VNPAY123") },
				map[string]string{"order:index:paymentRef:VNPAY123": order, "order:" + order: "v2"},
				"order:" + order, map[string]string{"status": "ACCEPTED", "paymentRef": "VNPAY123"}},
		} {
			t.Run(flow.name, func(t *testing.T) {
				testenv.NoError(t, flow.do())
				r.project(t)
				wantKeys(t, r.store, flow.keys)
				wantValues(t, valueOf(t, r.store, flow.doc), flow.wantValues)
				r.wantClean(t)
			})
		}
		t.Run("5.5 query", func(t *testing.T) { queries(t, r, order) })
	})
}

// queries runs the queries of section 5.5 against the reader, with Redis alone.
func queries(t *testing.T, r *fixture, order string) {
	t.Helper()
	r.reconcile(t)
	sql := &countingSource{Source: r.sql}
	reader := &document.Reader{Source: sql, Cache: r.store, State: r.generation, Repair: r.projector.Touch}
	of := func(e *document.Entity, f document.Filter) string {
		docs, _ := testenv.Must2(reader.Find(t.Context(), e, f, document.Page{Limit: 10}))(t)
		return strings.Join(idsOf(docs), ",")
	}
	byRef, _ := testenv.Must2(reader.FindUnique(t.Context(), document.Order, "paymentRef", "VNPAY123"))(t)
	got := []string{
		of(document.Order, document.Filter{"user": "7"}), of(document.OrderDetail, document.Filter{"order": order}), byRef.ID,
	}
	if d := cmp.Diff([]string{order, order + "-1," + order + "-2", order}, got); d != "" || sql.n != 0 {
		t.Errorf("after %d queries of SQL (-want +got):\n%s", sql.n, d)
	}
	testenv.NoError(t, r.data.PutCart(t.Context(), 124, 7), r.data.PutDetail(t.Context(), 458, 124, 789, 1))
	r.project(t)
	cart, found, err := reader.FindUnique(t.Context(), document.Cart, "user", "7")
	if err != nil || !found || cart.ID != "124" || of(document.CartDetail, document.Filter{"cart": cart.ID}) != "458" || sql.n != 0 {
		t.Errorf("the cart is %v, %v, with %d questions to SQL", cart, err, sql.n)
	}
}

// fill runs the flows of restaurant-redis.md: a user with a cart of two dishes and an order of two lines.
func fill(t *testing.T, r *fixture, order string) {
	t.Helper()
	ctx, h := t.Context(), r.data
	testenv.NoError(t, h.PutRole(ctx, 1, "ADMIN"), h.PutPermission(ctx, 1, "View Users"),
		h.PutPermission(ctx, 2, "Create Order"), h.PutPermission(ctx, 3, "View Orders"),
		h.Grant(ctx, 1, 1, true), h.Grant(ctx, 1, 2, true), h.Grant(ctx, 1, 3, true),
		h.PutUser(ctx, documenttest.User{
			ID: 456, Username: "johndoe", Email: "user@example.com", Phone: "+966501234567", Device: "device-123",
			Google: "1076", Role: 1, Province: "Riyadh", City: "Riyadh",
		}),
		h.PutCategory(ctx, 1, "Món Chính"), h.PutDish(ctx, 789, 1, "Phở"), h.PutDish(ctx, 790, 1, "Bún"),
		h.OfferDishes(ctx, 789),
		h.PutCart(ctx, 123, 456), h.PutDetail(ctx, 456, 123, 789, 2), h.PutDetail(ctx, 457, 123, 790, 1),
		h.PutOrder(ctx, order, "PLACED", 456, "VNPAY123"), h.PutLine(ctx, order, 1, 789), h.PutLine(ctx, order, 2, 790))
	r.project(t)
}

func (w wanted) check(t *testing.T, db *redisdb.DB) {
	t.Helper()
	key := keyOf(t, w.key)
	kind, _ := testenv.Must2(db.Do(t.Context(), "TYPE", key).Text())(t)
	if kind != string(w.kind) || key.Decl().Type != w.kind {
		t.Errorf("%s is a %s", w.key, kind)
		return
	}
	var got string
	if w.kind == keyspace.Set {
		members := testenv.Must(db.Do(t.Context(), "SMEMBERS", key).Texts())(t)
		slices.Sort(members)
		got = strings.Join(members, ",")
	} else {
		got, _ = testenv.Must2(db.Do(t.Context(), "GET", key).Text())(t)
	}
	if w.hold != "" && got != w.hold || got == "" {
		t.Errorf("%s holds %q, not %q", w.key, got, w.hold)
	}
}

func keyOf(t testing.TB, raw string) keyspace.Key {
	t.Helper()
	k, ok := keyspace.ParseDocument(raw)
	if !ok {
		t.Fatalf("%s is not declared", raw)
	}
	return k.Key
}

// fieldsOf lists the fields of a document, so that a test notices a secret among them.
func fieldsOf(t testing.TB, doc string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(doc), &all); err != nil {
		t.Fatalf("document %s: %v", doc, err)
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
