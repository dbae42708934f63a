package documentredis

import (
	"strconv"
	"testing"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
)

// A process has read a row and writes it late, after the row was deleted and the deletion projected, of which Redis had
// only seen an early version: the deletion's own version tells that the late write is older.
func TestProjector_deletion_overtakes(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx, must := t.Context(), documenttest.Must
		must(t, r.house.PutRole(ctx, 1, "USER"))
		user := documenttest.User{ID: 7, Role: 1}
		must(t, r.house.PutUser(ctx, user))
		r.project(t) // the memo is at version 1
		for n := range 3 {
			user.Username = "an" + strconv.Itoa(n)
			must(t, r.house.PutUser(ctx, user))
		}
		late, err := r.sql.Read(ctx, document.User, []string{"7"})
		must(t, err)
		must(t, r.house.DeleteUser(ctx, 7))
		r.project(t)
		a, err := r.store.Apply(ctx, late)
		must(t, err)
		if len(a.Dropped) != 1 || late[0].Version != 4 {
			t.Errorf("version %d was written after the deletion: %+v", late[0].Version, a)
		}
		r.clean(t)
	})
}
