package keyspace

import (
	"strings"
	"testing"

	"comanda/internal/testenv"
)

var families = []struct {
	of *Documents
	id string
}{
	{UserDocuments, "123"}, {RoleDocuments, "1"}, {PermissionDocuments, "1"}, {CategoryDocuments, "1"},
	{DishDocuments, "789"}, {CartDocuments, "123"}, {CartDetailDocuments, "456"}, {OrderDocuments, aUID},
	{OrderDetailDocuments, aUID + "-1"},
}

var indexes = []struct {
	of    *DocumentIndex
	value string
	want  string
}{
	{UserByEmail, "abc@xyz.com", "user:index:email:abc@xyz.com"},
	{UserByUsername, "johndoe", "user:index:username:johndoe"},
	{UserByPhone, "+966501234567", "user:index:phone:+966501234567"},
	{UserByDevice, "device-123", "user:index:device:device-123"},
	{UserByGoogle, "10769", "user:index:google:10769"},
	{UsersByProvince, "riyadh", "user:index:province:riyadh"},
	{UsersByCity, "h%c3%a0%20n%e1%bb%99i", "user:index:city:h%c3%a0%20n%e1%bb%99i"},
	{UsersNotRegistered, "no", "user:index:registered:no"},
	{RoleByName, "ADMIN", "role:index:name:ADMIN"},
	{RolePermissions, "1", "role:1:permissions"},
	{CategoryDishes, "1", "category:1:dishes"},
	{DishesByCategory, "1", "dish:index:category:1"},
	{DishesOnMenu, "yes", "dish:index:menu:yes"},
	{CartByUser, "123", "cart:index:user:123"},
	{UserCart, "123", "user:123:cart"},
	{CartItems, "123", "cart:123:items"},
	{CartDetailsByCart, "123", "cartDetail:index:cart:123"},
	{OrdersByUser, "123", "order:index:user:123"},
	{UserOrders, "123", "user:123:orders"},
	{OrderByPaymentRef, "VNPAY123", "order:index:paymentRef:VNPAY123"},
	{OrderDetails, aUID, "order:" + aUID + ":details"},
	{OrderDetailsByOrder, aUID, "orderDetail:index:order:" + aUID},
}

func everyDocument() []Key {
	keys := []Key{Marker(0), Marker(63), DocumentsVerified(), DocumentsVerifying()}
	for _, f := range families {
		keys = append(keys, f.of.Key(f.id), f.of.Memo(f.id), f.of.List(), f.of.Counter())
	}
	for _, x := range indexes {
		keys = append(keys, x.of.Key(x.value))
	}
	return keys
}

func TestDocuments(t *testing.T) {
	for _, f := range families {
		got := []string{f.of.Key(f.id).String(), f.of.Memo(f.id).String(), f.of.List().String(), f.of.Counter().String()}
		e := f.of.entity
		want := []string{e + ":" + f.id, "memo:{" + e + ":" + f.id + "}", e + ":list", e + ":counter"}
		testenv.Equal(t, want, got)
		if f.of.Key(f.id).Slot() != f.of.Memo(f.id).Slot() {
			t.Errorf("%s and its memo lie in different slots", got[0])
		}
	}
	for _, x := range indexes {
		if k := x.of.Key(x.value); !k.Valid() || k.String() != x.want {
			t.Errorf("%q instead of %q", k, x.want)
		}
	}
	testenv.Equal(t, "document:epoch:07 document:epoch:63", Marker(7).String()+" "+Marker(63).String())
}

func TestDocuments_refuse(t *testing.T) {
	for name, k := range map[string]Key{
		"a word as an id":          UserDocuments.Key("list"),
		"a list that is not an id": OrderDocuments.Key("list"),
		"an order's id too long":   OrderDocuments.Key(aUID + "0"),
		"a line without order":     OrderDetailDocuments.Key("1"),
		"a capital e-mail":         UserByEmail.Key("Abc@xyz.com"),
		"a value with a colon":     UserByEmail.Key("a:b"),
		"a value that is long":     UsersByCity.Key(strings.Repeat("x", maxValue+1)),
		"an empty value":           RoleByName.Key(""),
		"a mark too many":          Marker(100),
	} {
		if k.Valid() {
			t.Errorf("%s returned the key %s", name, k)
		}
	}
}

func TestParseDocument(t *testing.T) {
	for _, f := range families {
		for part, key := range map[DocumentPart]Key{
			DocumentBody: f.of.Key(f.id), DocumentMemo: f.of.Memo(f.id), DocumentList: f.of.List(), DocumentCounter: f.of.Counter(),
		} {
			k, ok := ParseDocument(key.String())
			if !ok || k.Key != key || k.Family != f.of || k.Part != part || part <= DocumentMemo && k.Text != f.id {
				t.Errorf("ParseDocument(%s) = %+v, %t", key, k, ok)
			}
		}
	}
	for _, x := range indexes {
		k, ok := ParseDocument(x.want)
		if !ok || k.Index != x.of || k.Part != DocumentEntry || k.Text != x.value && len(x.of.of.Segments) > 0 {
			t.Errorf("ParseDocument(%s) = %+v, %t", x.want, k, ok)
		}
	}
	for _, raw := range []string{"", "user", "user:", "user:x", "order:" + aUID + "0", "memo:{user:1", "document:epoch:01", "visit:1"} {
		if k, ok := ParseDocument(raw); ok {
			t.Errorf("ParseDocument(%q) = %+v", raw, k)
		}
	}
}

func TestNamespace_keeps_memos_beside_documents(t *testing.T) {
	for _, f := range families {
		for _, ns := range []Namespace{"", "north"} {
			memo := ns.Wire(f.of.Memo(f.id))
			if Slot(ns.Wire(f.of.Key(f.id))) != Slot(memo) {
				t.Errorf("%s lies in another slot than its document", memo)
			}
			if raw, ok := ns.Strip(memo); !ok || raw != f.of.Memo(f.id).String() {
				t.Errorf("Strip(%s) = %q, %t", memo, raw, ok)
			}
		}
	}
}

// Every key of the document packages is a document, a list, an index, or a key without ids.
func TestHoldings_are_complete(t *testing.T) {
	all := Holdings()
	for i, d := range Declarations() {
		h, idless := all[i], strings.HasPrefix(d.Pattern, "memo:") || strings.HasSuffix(d.Pattern, ":counter") ||
			strings.HasPrefix(d.Pattern, "document:")
		if known := h.Entity != ""; known == (idless || d.Owner != documentOwner) {
			t.Errorf("holding of %s = %+v, want an entity exactly for families with ids", d.Pattern, h)
		}
		if h.Document && !strings.HasPrefix(d.Pattern, h.DocumentOf("%")) {
			t.Errorf("%s is not where the documents of %s are", d.Pattern, h.Entity)
		}
	}
}
