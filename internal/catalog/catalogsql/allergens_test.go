package catalogsql_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/menufile"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

func contains(codes ...catalog.Allergen) catalog.DeclarationEdit {
	return catalog.DeclarationEdit{Allergens: &catalog.AllergensEdit{Declared: true, Allergens: catalog.Allergens{Contains: codes}}}
}

// The three states of a dish and of an option are stored apart, and a correction is in the published menu at once.
func TestStore_declarations(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx, o := t.Context(), optionService(s)
		dishes := &catalog.DishService{Store: s, Menus: o.Menus, Now: o.Now}
		item := func(id int64) catalog.Item {
			it, _ := content(t, s).Edition.Item(id)
			return it
		}
		const undeclared = 10 // a dish of the demo
		menuItem := itemOfDish(t, s, undeclared)
		if got := item(menuItem); got.Allergens != nil {
			t.Fatalf("dish %d has the allergens %v at first, want none declared", undeclared, got.Allergens)
		}
		for _, step := range []struct {
			edit catalog.DeclarationEdit
			want *catalog.Allergens
		}{
			{contains(), &catalog.Allergens{}},
			{contains(catalog.Mustard, catalog.Soya), &catalog.Allergens{Contains: []catalog.Allergen{catalog.Soya, catalog.Mustard}}},
			{catalog.DeclarationEdit{Diets: &[]catalog.Diet{catalog.Halal}}, &catalog.Allergens{Contains: []catalog.Allergen{catalog.Soya, catalog.Mustard}}},
			{catalog.DeclarationEdit{Allergens: &catalog.AllergensEdit{}}, nil},
		} {
			before := content(t, s).Revision
			d := testenv.Must(dishes.PutDish(ctx, cook, undeclared, catalog.DishEdit{Declared: step.edit}))(t)
			testenv.Equal(t, step.want, d.Allergens)
			if diff := cmp.Diff(step.want, item(menuItem).Allergens); diff != "" || content(t, s).Revision <= before {
				t.Errorf("the published menu (-want +got):\n%s", diff)
			}
		}
		if !item(menuItem).Has(catalog.Halal) {
			t.Error("the diet went with the allergens")
		}
		if _, err := dishes.PutDish(ctx, cook, 4, catalog.DishEdit{Names: named("x"), Declared: catalog.DeclarationEdit{Diets: &[]catalog.Diet{catalog.Vegan}}}); err == nil {
			t.Error("a dish with fish became vegan")
		}

		l := newLibrary(t, o)
		pearls := testenv.Must(o.PutOption(ctx, cook, 0, l.pearls, catalog.OptionEdit{Declared: contains(catalog.Gluten)}))(t)
		testenv.Must(o.PutOption(ctx, cook, 0, l.pearls, catalog.OptionEdit{ShortName: new("P")}))(t)
		groups, _ := testenv.Must2(o.Groups(ctx, "toppings", 10, 0))(t)
		for _, g := range groups {
			for _, stored := range g.Options {
				if stored.ID == pearls.ID && !cmp.Equal(stored.Allergens, pearls.Allergens) {
					t.Errorf("pearls have %+v after another change, want %+v", stored.Allergens, pearls.Allergens)
				}
			}
		}
		set := item(lunchSet)
		drink := set.Groups[1].Options[1] // the egg coffee
		want := &catalog.Allergens{Contains: []catalog.Allergen{catalog.Egg, catalog.Milk}}
		testenv.Equal(t, want, drink.Allergens)
		testenv.Must(dishes.PutDish(ctx, cook, drink.DishID, catalog.DishEdit{Declared: catalog.DeclarationEdit{Allergens: &catalog.AllergensEdit{}}}))(t)
		if set := item(lunchSet); set.Declared().Allergens != nil {
			t.Errorf("a set with an unknown part declares %+v, want nothing", set.Declared().Allergens)
		}
	})
}

// A change of rows of a menu keeps the tax class and the declaration of a dish, which it erased before.
func TestStore_rows_keep_declarations(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx, clock := t.Context(), func() time.Time { return now }
		menus := catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock)
		files := &catalog.MenuFiles{Store: s, Menus: menus, Now: clock}
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassFood, []int64{4}, now))(t)
		write := func(r catalog.MenuRow) {
			r.DishID, r.Price = 4, 65000
			testenv.Must(files.WriteRows(ctx, authz.System(), branchID, catalog.MenuRows{Rows: []catalog.MenuRow{r}}))(t)
		}
		write(catalog.MenuRow{Names: named("Pho with beef")})
		it, _ := content(t, s).Edition.OfDish(4)
		if it.TaxClass != catalog.ClassFood || it.Allergens == nil || it.Allergens.Contains[0] != catalog.Fish {
			t.Errorf("a new name leaves class %q and allergens %+v, want both unchanged", it.TaxClass, it.Allergens)
		}
		write(catalog.MenuRow{TaxClass: new(""), Declared: contains(catalog.Celery)})
		if it, _ = content(t, s).Edition.OfDish(4); it.TaxClass != "" || it.Allergens.Contains[0] != catalog.Celery {
			t.Errorf("a row leaves class %q and allergens %+v, want no class, and celery", it.TaxClass, it.Allergens)
		}
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassFood, dishIDs(t, s), now))(t)
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, vietnam(t), now))(t)
		_, err := files.WriteRows(ctx, authz.System(), branchID, catalog.MenuRows{
			Rows: []catalog.MenuRow{{DishID: 4, Price: 65000, TaxClass: new("")}},
		})
		if n := missingDishes(t, err); n != 1 {
			t.Errorf("%d dishes are reported without a rate, want 1", n)
		}
	})
}

// A file changes tax class, allergens and diets of dishes; a file without these columns, or with empty cells, keeps them.
func TestMenuFiles_declarations(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		run := func(head, cells string) (changed [2]int, problems []menufile.CellProblem) {
			raw := "key,category,name,price" + head + "\nphở-bò,Phở,Phở bò,65000" + cells + "\n"
			got := testenv.Must(menuFiles(s).Import(t.Context(), authz.System(), branchID, []byte(raw), catalog.ImportOptions{}))(t)
			return [2]int{got.Created, got.Updated}, got.Problems
		}
		const head = ",tax_class,allergens,may_contain,diets"
		dish := func() string {
			it, _ := content(t, s).Edition.OfDish(4)
			allergens, diets := it.Encode()
			return it.TaxClass + "|" + allergens + "|" + diets
		}
		for _, step := range []struct {
			head, cells, want string
			updated           int
		}{
			{"", "", `|{"contains":["AF"],"mayContain":["AY"]}|`, 0},
			{head, ",FOOD,none,celery,vegan", `FOOD|{"mayContain":["BC"]}|VEGETARIAN VEGAN`, 1},
			{head, ",,,,", `FOOD|{"mayContain":["BC"]}|VEGETARIAN VEGAN`, 0},
			{"", "", `FOOD|{"mayContain":["BC"]}|VEGETARIAN VEGAN`, 0},
			{head, `,-,"milk, egg",,-`, `|{"contains":["AE","AM"]}|`, 1},
			{head, `,,-,,halal`, `||HALAL`, 1},
		} {
			changed, problems := run(step.head, step.cells)
			if got := dish(); got != step.want || changed != [2]int{0, step.updated} || len(problems) > 0 {
				t.Errorf("%s makes the dish %s, changed %v with problems %v, want %s, %d updated", step.cells, got, changed, problems, step.want, step.updated)
			}
		}
		before := dish()
		for cells, want := range map[string]menufile.CellProblem{
			",WINE,,,":                  {Row: 2, Column: "tax_class", Code: menufile.TaxClassUnknown},
			",,fish,,vegetarian":        {Row: 2, Column: "diets", Code: menufile.DietConflict},
			",,sand,,":                  {Row: 2, Column: "allergens", Code: menufile.AllergenUnknown},
			`,,"crustaceans",,"kosher"`: {Row: 2, Column: "diets", Code: menufile.DietConflict},
		} {
			_, problems := run(head, cells)
			if len(problems) == 0 || problems[0].Row != want.Row || problems[0].Column != want.Column || problems[0].Code != want.Code || dish() != before {
				t.Errorf("%s: problems %v, and the dish is %s, want %s in %s and no change", cells, problems, dish(), want.Code, want.Column)
			}
		}
	})
}
