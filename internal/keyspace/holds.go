package keyspace

// held says which documents the ids under an index or in a list belong to. What Redis holds can be checked by it without
// a look at SQL.
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

// Holding is what a declaration has to do with documents.
type Holding struct {
	Entity   string // of the documents whose ids are held, or which are held themselves; empty for all other keys
	Document bool   // the key is a document: its id is what follows the entity and a colon
	List     bool   // the key is the set of all ids
}

// DocumentOf is the raw key of the document with an id.
func (h Holding) DocumentOf(id string) string { return h.Entity + ":" + id }

// Holdings tells for each of Declarations what it has to do with documents.
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
