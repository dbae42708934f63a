package stock_test

import (
	"strings"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/stock"
)

// Ids of other systems are segments of paths, so those that clients and servers remove from paths are refused too.
func TestValidateExternalID(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"bia-hanoi": true, "A_1": true, "...": true, ".a": true, "1.5": true, strings.Repeat("x", stock.MaxExternalID): true,
		"": false, ".": false, "..": false, "a/b": false, "a b": false, "é": false, strings.Repeat("x", stock.MaxExternalID+1): false,
	} {
		err := stock.ValidateExternalID("itemId", id)
		if (err == nil) != ok || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("ValidateExternalID(%q) = %v, want ok %t", id, err, ok)
		}
	}
}
