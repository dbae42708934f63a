package document

import (
	"math"

	"comanda/internal/keyspace"
	"comanda/internal/text"
)

// Entities are the nine models, in an order in which each refers to earlier ones only.
var Entities = []*Entity{Permission, Role, User, Category, Dish, Cart, CartDetail, Order, OrderDetail}

type (
	fields  = []Field
	indexes = []*Index
)

// small is the range of a 32-bit column.
var small = [2]int64{math.MinInt32, math.MaxInt32}

// Limits of a cart line: cart.MaxQuantity and catalog.MaxPrice, which this package must not import; a test compares
// them. Code that reads cart lines relies on products and sums of such numbers not overflowing.
var (
	lineQuantity = [2]int64{1, 20}
	linePrice    = [2]int64{0, 1_000_000_000}
)

// version is the version of a row. Every change adds one, and scripts compare versions as floating-point numbers, so a file
// cannot set one that no row reaches: a change of the row would overflow.
var version = Field{Name: "version", Kind: Number, Between: [2]int64{1, 1_000_000_000_000}}

// keys lists families of keys.
func keys(all ...*keyspace.DocumentIndex) []*keyspace.DocumentIndex { return all }

// withCommonFields appends the fields with which most models end.
func withCommonFields(fs ...Field) fields {
	return append(fs,
		Field{Name: "createdAt", Kind: Instant}, Field{Name: "updatedAt", Kind: Instant},
		Field{Name: "createdBy", Kind: Text, Optional: true}, Field{Name: "updatedBy", Kind: Text, Optional: true},
		version)
}

// optional is text that may be missing.
func optional(name string) Field { return Field{Name: name, Kind: Text, Null: true, Optional: true} }

// typed is a text of one line that people type about themselves.
func typed(name string) Field {
	f := optional(name)
	f.Typed = text.Line
	return f
}

// User is an account. Its password, tokens and counters of failures are not part of it.
var User = define(Entity{
	Name: "user", Keys: keyspace.UserDocuments, Numeric: true,
	Fields: withCommonFields(
		Field{Name: "id", Kind: ID},
		typed("username"), typed("email"), typed("phone"), optional("deviceId"),
		optional("googleId"), Field{Name: "roleId", Kind: ID, Refers: "role"},
		Field{Name: "accountStatus", Kind: Text, OneOf: []string{"PENDING", "ACTIVE", "DISABLED"}},
		typed("address"),
		Field{Name: "gender", Kind: Text, Null: true, Optional: true, OneOf: []string{"MALE", "FEMALE", "OTHER"}},
		typed("firstName"), typed("surname"),
		Field{Name: "age", Kind: Number, Null: true, Optional: true, Between: [2]int64{0, 150}}, typed("occupation"),
		typed("province"), typed("city"), optional("geolocation"),
		Field{Name: "trustScore", Kind: Number, Optional: true, Between: small, Default: 100},
		Field{Name: "fraudFlags", Kind: Object, Null: true, Derived: true, OmitNull: true},
		Field{Name: "profile", Kind: Object, Optional: true},
		Field{Name: "registered", Kind: Flag, Optional: true},
		// A login does not change the version, so two writers of one version may store different times. The sampler, the next
		// login and the daily comparison correct the older one.
		Field{Name: "lastLogin", Kind: Instant, Null: true, Derived: true}),
	Indexes: indexes{
		{Name: "email", Field: "email", Unique: true, Keys: keys(keyspace.UserByEmail)},
		{Name: "username", Field: "username", Unique: true, Keys: keys(keyspace.UserByUsername)},
		{Name: "phone", Field: "phone", Unique: true, Keys: keys(keyspace.UserByPhone)},
		{Name: "device", Field: "deviceId", Unique: true, Keys: keys(keyspace.UserByDevice)},
		{Name: "google", Field: "googleId", Unique: true, Case: Escape, Keys: keys(keyspace.UserByGoogle)},
		{Name: "province", Field: "province", Keys: keys(keyspace.UsersByProvince)},
		{Name: "city", Field: "city", Keys: keys(keyspace.UsersByCity)},
		{Name: "registered", Field: "registered", OnlyValue: "no", Keys: keys(keyspace.UsersNotRegistered)},
	},
})

// Role is a named set of permissions of accounts.
var Role = define(Entity{
	Name: "role", Keys: keyspace.RoleDocuments, Numeric: true,
	Fields: withCommonFields(
		Field{Name: "id", Kind: ID}, Field{Name: "name", Kind: Text, Typed: text.Line},
		Field{Name: "description", Kind: Text, Optional: true, Typed: text.Lines},
		Field{Name: "permissionIds", Kind: Members, Hidden: true, Refers: "permission", Optional: true}),
	Indexes: indexes{
		{Name: "name", Field: "name", Unique: true, Case: Keep, Keys: keys(keyspace.RoleByName)},
		{Name: "permissions", Field: "permissionIds", Keys: keys(keyspace.RolePermissions)},
	},
})

// Permission is the right to use a route.
var Permission = define(Entity{
	Name: "permission", Keys: keyspace.PermissionDocuments, Numeric: true,
	Fields: withCommonFields(
		Field{Name: "id", Kind: ID}, Field{Name: "name", Kind: Text}, Field{Name: "apiPath", Kind: Text},
		Field{Name: "method", Kind: Text}, Field{Name: "module", Kind: Text}),
	UniqueTogether: []string{"apiPath", "method"},
})

// Category groups dishes.
var Category = define(Entity{
	Name: "category", Keys: keyspace.CategoryDocuments, Numeric: true,
	Fields: withCommonFields(
		Field{Name: "id", Kind: ID}, Field{Name: "name", Kind: Localised, Derived: true},
		Field{Name: "description", Kind: Localised, Derived: true},
		Field{Name: "sort", Kind: Number, Optional: true, Between: small},
		Field{Name: "names", Kind: Object, Typed: text.Line},
		Field{Name: "descriptions", Kind: Object, Optional: true, Typed: text.Lines}),
})

// Dish is a dish of the restaurant. Its price is that of the published menu of the first branch, in that branch's
// currency. branches says what each branch has and can sell now, see catalog.DishSale; stock and soldToday are the sums,
// and available is true if any branch can sell it. A dish that is on no published menu has no branches.
var Dish = define(Entity{
	Name: "dish", Keys: keyspace.DishDocuments, Numeric: true,
	Fields: withCommonFields(
		Field{Name: "id", Kind: ID}, Field{Name: "name", Kind: Localised, Derived: true},
		Field{Name: "description", Kind: Localised, Derived: true},
		Field{Name: "price", Kind: Number, Null: true, Derived: true},
		Field{Name: "currency", Kind: Text, Null: true, Derived: true},
		optional("imageUrl"), Field{Name: "categoryId", Kind: ID, Refers: "category"},
		Field{Name: "stock", Kind: Number, Null: true, Derived: true},
		Field{Name: "soldToday", Kind: Number, Null: true, Derived: true},
		Field{Name: "available", Kind: Flag, Derived: true},
		Field{Name: "onMenu", Kind: Flag, Derived: true},
		Field{Name: "branches", Kind: Object, Derived: true},
		Field{Name: "names", Kind: Object, Typed: text.Line},
		Field{Name: "descriptions", Kind: Object, Optional: true, Typed: text.Lines}),
	Indexes: indexes{
		{Name: "category", Field: "categoryId", Keys: keys(keyspace.DishesByCategory, keyspace.CategoryDishes)},
		{Name: "onMenu", Field: "onMenu", OnlyValue: "yes", Keys: keys(keyspace.DishesOnMenu)},
	},
})

// Cart is a member's cart.
var Cart = define(Entity{
	Name: "cart", Keys: keyspace.CartDocuments, Numeric: true,
	Fields: withCommonFields(Field{Name: "id", Kind: ID}, Field{Name: "userId", Kind: ID, Refers: "user"}),
	Indexes: indexes{
		{Name: "user", Field: "userId", Unique: true, Keys: keys(keyspace.CartByUser, keyspace.UserCart)},
	},
})

// CartDetail is a dish in a cart.
var CartDetail = define(Entity{
	Name: "cartDetail", Keys: keyspace.CartDetailDocuments, Numeric: true,
	Fields: fields{
		{Name: "id", Kind: ID}, {Name: "cartId", Kind: ID, Refers: "cart"}, {Name: "dishId", Kind: ID, Refers: "dish"},
		{Name: "quantity", Kind: Number, Between: lineQuantity},
		{Name: "price", Kind: Number, Between: linePrice},
		{Name: "total", Kind: Number, Derived: true},
		{Name: "options", Kind: Text, Null: true, Optional: true, OmitNull: true}, version,
	},
	UniqueTogether: []string{"cartId", "dishId", "options"},
	Indexes: indexes{
		{Name: "cart", Field: "cartId", Keys: keys(keyspace.CartItems, keyspace.CartDetailsByCart)},
	},
})

// Order is an order of a guest or a member; a guest's has no user.
var Order = define(Entity{
	Name: "order", Keys: keyspace.OrderDocuments, ExportOnly: true, ShowsEntries: true, Kept: true,
	Fields: fields{
		{Name: "id", Kind: Text}, {Name: "userId", Kind: ID, Null: true}, {Name: "receiverName", Kind: Text, Null: true},
		{Name: "receiverPhone", Kind: Text, Null: true}, {Name: "receiverAddress", Kind: Text, Null: true},
		{Name: "receiverEmail", Kind: Text, Null: true}, {Name: "receiverNote", Kind: Text, Null: true, OmitNull: true},
		{Name: "totalPrice", Kind: Number}, {Name: "currency", Kind: Text},
		{Name: "status", Kind: Text}, {Name: "paymentMethod", Kind: Text}, {Name: "paymentStatus", Kind: Text},
		{Name: "paymentRef", Kind: Text, Null: true}, {Name: "cancelReason", Kind: Text, Null: true},
		{Name: "branchId", Kind: ID}, {Name: "kind", Kind: Text}, {Name: "visitId", Kind: Text, Null: true},
		{Name: "bizDate", Kind: Text}, {Name: "number", Kind: Number}, {Name: "payBy", Kind: Instant},
		{Name: "paidAt", Kind: Instant, Null: true}, {Name: "canceledAt", Kind: Instant, Null: true},
		{Name: "createdAt", Kind: Instant}, {Name: "updatedAt", Kind: Instant}, version,
	},
	Indexes: indexes{
		{Name: "user", Field: "userId", Keys: keys(keyspace.OrdersByUser, keyspace.UserOrders)},
		{Name: "paymentRef", Field: "paymentRef", Unique: true, Case: Keep, Keys: keys(keyspace.OrderByPaymentRef)},
	},
})

// OrderDetail is a line of an order. Its id is the order's id and the number of the line, as in 01j...-2.
var OrderDetail = define(Entity{
	Name: "orderDetail", Keys: keyspace.OrderDetailDocuments, ExportOnly: true, ShowsEntries: true, Immutable: true, Kept: true,
	Fields: fields{
		{Name: "id", Kind: Text}, {Name: "orderId", Kind: Text}, {Name: "dishId", Kind: ID}, {Name: "itemId", Kind: ID},
		{Name: "quantity", Kind: Number}, {Name: "price", Kind: Number}, {Name: "notes", Kind: Text},
		{Name: "options", Kind: Object, Null: true, OmitNull: true}, version,
	},
	Indexes: indexes{
		{Name: "order", Field: "orderId", Keys: keys(keyspace.OrderDetails, keyspace.OrderDetailsByOrder)},
	},
})
