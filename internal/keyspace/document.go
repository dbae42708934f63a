package keyspace

import (
	"strings"
	"time"
)

// Documents are the keys of one entity of package document.
type Documents struct {
	entity                    string
	body, memo, list, counter *declared
}

// TombstoneLife is the TTL of a deleted document's memo. It exceeds by far the delay of a writer that read the row
// before its deletion.
const TombstoneLife = 10 * time.Minute

const (
	documentOwner   = "document"
	documentRebuild = "document.rebuild"

	// maxValue is the maximum length of an encoded index value. Longer values are not indexed; they are searched in
	// SQL.
	maxValue = 768
)

var numberID = []Segment{{"id", digits, 19}}

// Document families, one per entity.
var (
	UserDocuments        = documents("user", "%id%", "app_user", "", numberID, false)
	RoleDocuments        = documents("role", "%id%", "role, role_permission", "", numberID, false)
	PermissionDocuments  = documents("permission", "%id%", "permission", "", numberID, false)
	CategoryDocuments    = documents("category", "%id%", "category", "", numberID, false)
	DishDocuments        = documents("dish", "%id%", "dish, menu_version_item", "", numberID, false)
	CartDocuments        = documents("cart", "%id%", "cart", "", numberID, false)
	CartDetailDocuments  = documents("cartDetail", "%id%", "cart_detail", "D", numberID, false)
	OrderDocuments       = documents("order", "%id%", "order_info", "", []Segment{{"id", uidChars, 26}}, true)
	OrderDetailDocuments = documents("orderDetail", "%order%-%line%", "order_item", "D",
		[]Segment{{"order", uidChars, 26}, {"line", digits, 4}}, false)
)

// documents declares the keys of an entity. also contains the capital letters of the entity's name, which the
// reference documents require.
func documents(entity, id, source, also string, of []Segment, exact bool) *Documents {
	d := Decl{
		Pattern: entity + ":" + id, Segments: of, Type: String, Class: Derived, Owner: documentOwner, Source: source,
		Also: also, Exact: exact, Rebuild: documentRebuild, Purpose: "the document as JSON, with the version of its row",
	}
	f := &Documents{entity: entity}
	f.body = f.declare(d, DocumentBody, Holding{Entity: entity, Document: true})
	d.Tag = "{" + d.Pattern + "}"
	d.Pattern, d.TTL = "memo:"+d.Tag, TTL{Max: TombstoneLife}
	d.Purpose = "version and index entries of the document; after its deletion a tombstone, which expires; " +
		"none for documents whose JSON shows both"
	f.memo = f.declare(d, DocumentMemo, Holding{})
	d.Tag, d.TTL, d.Segments, d.Exact = "", TTL{}, nil, false
	d.Pattern, d.Type, d.Purpose = entity+":list", Set, "ids of all documents"
	f.list = f.declare(d, DocumentList, Holding{Entity: entity, List: true})
	d.Pattern, d.Type, d.Purpose = entity+":counter", String, "highest id; number of documents if ids are not numeric"
	f.counter = f.declare(d, DocumentCounter, Holding{})
	return f
}

func (f *Documents) declare(d Decl, part DocumentPart, h Holding) *declared {
	c := declare(d)
	c.document, c.holding = DocumentKey{Family: f, Part: part}, h
	return c
}

// Key returns the key of a document. It is invalid if id does not fit the declaration.
func (f *Documents) Key(id string) Key { return f.build(f.body, id) }

// Memo returns the key of a document's memo: its version and index entries. It shares the slot of the document's key.
func (f *Documents) Memo(id string) Key { return f.build(f.memo, id) }

// List returns the key of the set of all ids.
func (f *Documents) List() Key { return f.list.key() }

// Counter returns the key of the highest number assigned to a document.
func (f *Documents) Counter() Key { return f.counter.key() }

func (f *Documents) build(d *declared, id string) Key {
	if len(d.Segments) == 1 {
		return d.key(id)
	}
	order, line, _ := strings.Cut(id, "-")
	return d.key(order, line)
}

// DocumentIndex is a family of index keys of documents.
type DocumentIndex struct {
	of *declared
	// Own is set if the id in the key is the document's own and the members are ids of related documents.
	Own bool
}

// Key returns the key of an encoded value, or of the document's own id. It is invalid if the value does not fit the
// declaration.
func (x *DocumentIndex) Key(value string) Key {
	if len(x.of.Segments) == 0 {
		return x.of.key()
	}
	return x.of.key(value)
}

// Type returns the Redis type of the key: String or Set.
func (x *DocumentIndex) Type() Type { return x.of.Type }

// The indexes. Duplicates exist because the reference documents specify them.
var (
	UserByEmail        = UserDocuments.uniqueIndex("user:index:email:%value%", "app_user", valueChars, "")
	UserByUsername     = UserDocuments.uniqueIndex("user:index:username:%value%", "app_user", valueChars, "")
	UserByPhone        = UserDocuments.uniqueIndex("user:index:phone:%value%", "app_user", valueChars, "")
	UserByDevice       = UserDocuments.uniqueIndex("user:index:device:%value%", "app_user", valueChars, "")
	UserByGoogle       = UserDocuments.uniqueIndex("user:index:google:%value%", "app_user", valueChars, "")
	UsersByProvince    = UserDocuments.setIndex("user:index:province:%value%", "app_user", valueChars, "")
	UsersByCity        = UserDocuments.setIndex("user:index:city:%value%", "app_user", valueChars, "")
	UsersNotRegistered = UserDocuments.setIndex("user:index:registered:no", "app_user", "", "")
	RoleByName         = RoleDocuments.uniqueIndex("role:index:name:%value%", "role", exactChars, "")
	RolePermissions    = PermissionDocuments.relation("role:%id%:permissions", "role_permission")

	CategoryDishes   = DishDocuments.setIndex("category:%id%:dishes", "dish", digits, "")
	DishesByCategory = DishDocuments.setIndex("dish:index:category:%id%", "dish", digits, "")
	DishesOnMenu     = DishDocuments.setIndex("dish:index:menu:yes", "menu_version_item", "", "")

	CartByUser        = CartDocuments.uniqueIndex("cart:index:user:%id%", "cart", digits, "")
	UserCart          = CartDocuments.uniqueIndex("user:%id%:cart", "cart", digits, "")
	CartItems         = CartDetailDocuments.setIndex("cart:%id%:items", "cart_detail", digits, "")
	CartDetailsByCart = CartDetailDocuments.setIndex("cartDetail:index:cart:%id%", "cart_detail", digits, "D")

	OrdersByUser        = OrderDocuments.setIndex("order:index:user:%id%", "order_info", digits, "")
	UserOrders          = OrderDocuments.setIndex("user:%id%:orders", "order_info", digits, "")
	OrderByPaymentRef   = OrderDocuments.uniqueIndex("order:index:paymentRef:%value%", "order_info", exactChars, "R")
	OrderDetails        = OrderDetailDocuments.setIndex("order:%id%:details", "order_item", uidChars, "")
	OrderDetailsByOrder = OrderDetailDocuments.setIndex("orderDetail:index:order:%id%", "order_item", uidChars, "D")
)

// index declares an index that contains ids of the documents.
func (f *Documents) index(pattern string, t Type, source string, of Alphabet, also, purpose string) *DocumentIndex {
	d := Decl{
		Pattern: pattern, Type: t, Class: Derived, Owner: documentOwner, Source: source, Also: also,
		Rebuild: documentRebuild, Purpose: purpose,
	}
	switch of {
	case "":
	case digits:
		d.Segments = numberID
	case uidChars:
		d.Segments, d.Exact = []Segment{{"id", uidChars, 26}}, true
	default:
		d.Segments, d.Long = []Segment{{"value", of, maxValue}}, true
	}
	x := &DocumentIndex{of: declare(d)}
	x.of.document, x.of.holding = DocumentKey{Index: x, Part: DocumentEntry}, Holding{Entity: f.entity}
	return x
}

func (f *Documents) uniqueIndex(pattern, source string, of Alphabet, also string) *DocumentIndex {
	return f.index(pattern, String, source, of, also, "id of the document with this value; readers verify it")
}

func (f *Documents) setIndex(pattern, source string, of Alphabet, also string) *DocumentIndex {
	return f.index(pattern, Set, source, of, also, "ids of the documents with this value")
}

func (f *Documents) relation(pattern, source string) *DocumentIndex {
	x := f.index(pattern, Set, source, digits, "", "ids of the related documents")
	x.Own = true
	return x
}

// MarkerCount is the number of markers, which prove that the documents in Redis are complete. With this many, every
// node of a Cluster holds some, so no node can lose its keys unnoticed.
const MarkerCount = 64

var epochMark = declare(Decl{
	Pattern: "document:epoch:%mark%", Segments: []Segment{{"mark", digits, 2}}, Exact: true,
	Type: String, Class: Derived, Owner: documentOwner, Source: "document_plane", Rebuild: documentRebuild,
	Purpose: "epoch of complete documents | running rebuild",
})

// Marker returns the key of the n-th marker, from 0.
func Marker(n int) Key {
	if n < 10 {
		return epochMark.key("0" + decimal(int64(n)))
	}
	return epochMark.key(decimal(int64(n)))
}

// VerifiedLife is the TTL of the result of a comparison. It is longer than the time to the next one, so that a result
// stays until operators have seen it.
const VerifiedLife = 8 * 24 * time.Hour

var (
	documentsVerified = declare(Decl{
		Pattern: "document:verified", Type: String, TTL: TTL{VerifiedLife, VerifiedLife}, Class: Lossy,
		Owner: documentOwner, Purpose: "result of the last comparison of all documents with SQL: time, and differences by kind",
	})
	documentsVerifying = declare(Decl{
		Pattern: "document:verifying", Type: String, TTL: TTL{time.Hour, 3 * time.Hour}, Class: Lossy,
		Owner: documentOwner, Purpose: "claim of the process that compares all documents with SQL",
	})
)

// DocumentsVerified returns the key of the result of the last comparison with SQL.
func DocumentsVerified() Key { return documentsVerified.key() }

// DocumentsVerifying returns the key of the claim to compare.
func DocumentsVerifying() Key { return documentsVerifying.key() }

// DocumentKey is a parsed document key.
type DocumentKey struct {
	Key    Key
	Family *Documents     // for a document, its memo, a list or a counter
	Index  *DocumentIndex // for an index
	Part   DocumentPart
	Text   string // the id of the document, or the value of the index, as in the key
}

// DocumentPart is the kind of a document key.
type DocumentPart int

// The parts.
const (
	DocumentBody DocumentPart = iota + 1
	DocumentMemo
	DocumentList
	DocumentCounter
	DocumentEntry // an entry of an index
)

// ParseDocument parses a raw document key without its namespace; ok is false for all other keys.
func ParseDocument(raw string) (k DocumentKey, ok bool) {
	family, ok := Find(raw)
	if !ok || registry[family].document.Part == 0 {
		return DocumentKey{}, false
	}
	d := registry[family]
	k = d.document
	k.Key, k.Text = Key{raw, d}, d.variable(raw)
	return k, true
}

// variable returns the part of a raw key from its first segment to its last.
func (d *declared) variable(raw string) string {
	head, last := d.cut[0].text, d.cut[len(d.cut)-1]
	if len(d.cut) == 1 { // no segment
		return ""
	}
	raw = strings.TrimPrefix(raw, head)
	if last.of == "" {
		raw = strings.TrimSuffix(raw, last.text)
	}
	return raw
}
