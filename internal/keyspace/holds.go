package keyspace

// Holding is the relation of a declaration to documents.
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
