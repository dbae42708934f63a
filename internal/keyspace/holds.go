package keyspace

// held maps index and list families to the entity whose ids they contain, so that Redis can be checked without SQL.
var held = map[*Documents][]*DocumentIndex{
	UserDocuments: {
		UserByEmail, UserByUsername, UserByPhone, UserByDevice, UserByGoogle, UsersByProvince, UsersByCity, UsersNotRegistered,
	},
	RoleDocuments:        {RoleByName},
	PermissionDocuments:  {RolePermissions},
	CategoryDocuments:    {},
	DishDocuments:        {CategoryDishes, DishesByCategory},
	CartDocuments:        {CartByUser, UserCart},
	CartDetailDocuments:  {CartItems, DetailsOfCart},
	OrderDocuments:       {OrdersByUser, UserOrders, OrderByPaymentRef},
	OrderDetailDocuments: {OrderDetails, DetailsOfOrder},
}

// Holding is the relation of a declaration to documents.
type Holding struct {
	Entity   string // entity of the key's document or of the ids in it; empty for unrelated keys
	Document bool   // the key is a document, named by entity, colon and id
	List     bool   // the key is the set of all ids
}

// DocumentOf returns the raw key of the document with an id.
func (h Holding) DocumentOf(id string) string { return h.Entity + ":" + id }

// Holdings returns the Holding of each of Declarations, in the same order.
func Holdings() []Holding {
	byPattern := map[string]Holding{}
	for documents, indexes := range held {
		byPattern[documents.body.Pattern] = Holding{Entity: documents.entity, Document: true}
		byPattern[documents.list.Pattern] = Holding{Entity: documents.entity, List: true}
		for _, x := range indexes {
			byPattern[x.of.Pattern] = Holding{Entity: documents.entity}
		}
	}
	all := make([]Holding, len(registry))
	for i, d := range registry {
		all[i] = byPattern[d.Pattern]
	}
	return all
}
