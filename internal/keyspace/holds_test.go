package keyspace

import (
	"strings"
	"testing"
)

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
