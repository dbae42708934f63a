package catalogsql_test

import (
	"errors"
	"testing"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// vietnam is the pricing of a restaurant in Vietnam.
func vietnam(t *testing.T) catalog.Pricing {
	t.Helper()
	for _, p := range catalog.PricingProfiles() {
		if p.Country == "VN" {
			return p.Pricing
		}
	}
	t.Fatal("there is no pricing profile of Vietnam")
	return catalog.Pricing{}
}

// dishIDs returns the dishes of the published menu.
func dishIDs(t *testing.T, s *catalogsql.Store) (ids []int64) {
	t.Helper()
	for _, it := range content(t, s).Edition.Items {
		ids = append(ids, it.DishID)
	}
	return ids
}

func missingDishes(t *testing.T, err error) int {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !errors.Is(err, catalog.ErrTaxMissing) {
		t.Fatalf("the error is %v, want ErrTaxMissing", err)
	}
	n, _ := f.Extra["count"].(int)
	return n
}

// A branch with tax rates sells no dish without one: neither by new rates, nor by a change of a dish, nor by a new menu.
func TestStore_ChangePricing_needs_tax_classes(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx, p, dishes := t.Context(), vietnam(t), dishIDs(t, s)
		_, err := s.ChangePricing(ctx, authz.System(), branchID, p, now)
		if n := missingDishes(t, err); n != len(dishes) {
			t.Errorf("%d dishes are reported without a tax class, want all %d", n, len(dishes))
		}
		if b := testenv.Must(s.Branch(ctx, branchID))(t); !b.Pricing.Empty() {
			t.Errorf("refused rates are stored: %+v", b.Pricing)
		}
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassFood, dishes, now))(t)
		before := content(t, s).Revision
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, p, now))(t)
		after := content(t, s)
		if after.Revision == before || after.Edition.Items[0].TaxClass != catalog.ClassFood {
			t.Errorf("revision %d after %d, and the first item has the tax class %q; want a later revision and FOOD",
				after.Revision, before, after.Edition.Items[0].TaxClass)
		}

		_, err = s.SetTaxClass(ctx, authz.System(), "", dishes[:1], now)
		testenv.Equal(t, 1, missingDishes(t, err))
		_, _, err = s.PutDish(ctx, authz.System(), dishes[0], now, func(d catalog.Dish) (catalog.Dish, error) {
			d.TaxClass = ""
			return d, nil
		})
		testenv.Equal(t, 1, missingDishes(t, err))
		// A new dish without a class cannot be published.
		d := testenv.Must(dishService(s, now).PutDish(ctx, cook, 0, catalog.DishEdit{CategoryID: new(int64(1)), Names: soup}))(t)
		v := draft(t, s, 70000)
		testenv.Must(s.AddLine(ctx, cook, v.ID, d.ID, catalog.Entry{Price: 1, Active: true}, now))(t)
		_, err = s.Publish(ctx, cook, v.ID, now)
		if n := missingDishes(t, err); n != 1 {
			t.Errorf("%d dishes keep the draft from being published, want 1", n)
		}
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassSoftDrink, []int64{d.ID}, now))(t)
		testenv.Must(s.Publish(ctx, cook, v.ID, now))(t)
	})
}

func TestStore_tax_classes(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx := t.Context()
		first := testenv.Must(s.TaxClasses(ctx))(t)
		if len(first) != 4 || first[0].Code != catalog.ClassFood {
			t.Fatalf("a new house has the tax classes %+v, want four, food first", first)
		}
		books := catalog.TaxClass{Code: "BOOKS", Names: catalog.Texts{catalog.English: "Books"}}
		testenv.Must(s.PutTaxClass(ctx, authz.System(), books, now))(t)
		books.Names = catalog.Texts{catalog.English: "Magazines"}
		testenv.Must(s.PutTaxClass(ctx, authz.System(), books, now))(t)
		all := testenv.Must(s.TaxClasses(ctx))(t)
		if last := all[len(all)-1]; len(all) != 5 || last.Code != "BOOKS" || last.Names.In() != "Magazines" {
			t.Errorf("after adding and renaming a class, the last of %d is %+v, want Magazines as the fifth", len(all), last)
		}
		dishes := dishIDs(t, s)[:1]
		testenv.Must(s.SetTaxClass(ctx, authz.System(), "BOOKS", dishes, now))(t)
		_, unknown := s.SetTaxClass(ctx, authz.System(), "NONE", dishes, now)
		_, missing := s.SetTaxClass(ctx, authz.System(), "BOOKS", []int64{999}, now)
		_, foreign := s.SetTaxClass(ctx, otherBranchActor, "BOOKS", dishes, now)
		for name, c := range map[string]struct{ got, want error }{
			"an unknown class":    {unknown, catalog.ErrTaxClass},
			"an unknown dish":     {missing, catalog.ErrDish},
			"a dish of another":   {foreign, catalog.ErrShared},
			"a class with dishes": {s.DeleteTaxClass(ctx, authz.System(), "BOOKS", now), catalog.ErrTaxClassInUse},
			"no class":            {s.DeleteTaxClass(ctx, authz.System(), "NONE", now), catalog.ErrTaxClass},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("the error for %s is %v, want %v", name, c.got, c.want)
			}
		}
		testenv.Must(s.SetTaxClass(ctx, authz.System(), "", dishes, now))(t)
		p := catalog.Pricing{
			Rates: []catalog.TaxRate{{Code: "VAT", Percent: "5"}}, Rules: []catalog.TaxRule{{TaxClass: "BOOKS", Rate: "VAT"}},
		}
		dishes = dishIDs(t, s)
		testenv.Must(s.SetTaxClass(ctx, authz.System(), "BOOKS", dishes, now))(t)
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, p.Filled(), now))(t)
		if err := s.DeleteTaxClass(ctx, authz.System(), "BOOKS", now); !errors.Is(err, catalog.ErrTaxClassInUse) {
			t.Errorf("the class of a branch's rule is deleted: %v", err)
		}
		if _, err := s.ChangePricing(ctx, otherBranchActor, branchID, p, now); !errors.Is(err, catalog.ErrBranch) {
			t.Errorf("an actor of another branch sets the pricing: %v", err)
		}
	})
}

// An option with a tax class of its own needs a rate, too.
func TestStore_PutOption_needs_a_tax_rate(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx := t.Context()
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassFood, dishIDs(t, s), now))(t)
		p := catalog.Pricing{
			Rates: []catalog.TaxRate{{Code: "VAT", Percent: "5"}}, Rules: []catalog.TaxRule{{TaxClass: catalog.ClassFood, Rate: "VAT"}},
		}
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, p.Filled(), now))(t)
		var option int64 // an option of the demo's published menu
		for _, it := range content(t, s).Edition.Items {
			if len(it.Groups) > 0 {
				option = it.Groups[0].Options[0].ID
				break
			}
		}
		put := func(class string) error {
			_, _, err := s.PutOption(ctx, authz.System(), 0, option, now,
				func(_ catalog.LibraryGroup, o catalog.LibraryOption) (catalog.LibraryOption, error) {
					o.TaxClass = class
					return o, nil
				})
			return err
		}
		testenv.Equal(t, 1, missingDishes(t, put(catalog.ClassAlcohol)))
		testenv.ErrorIs(t, catalog.ErrTaxClass, put("NONE"), "an unknown class is answered with")
		p.Rules = append(p.Rules, catalog.TaxRule{TaxClass: catalog.ClassAlcohol, Rate: "VAT"})
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, p.Filled(), now))(t)
		testenv.NoError(t, put(catalog.ClassAlcohol))
		for _, it := range content(t, s).Edition.Items {
			if len(it.Groups) > 0 && it.Groups[0].Options[0].TaxClass != catalog.ClassAlcohol {
				t.Errorf("the option has the tax class %q on the menu, want ALCOHOL", it.Groups[0].Options[0].TaxClass)
			}
			if len(it.Groups) > 0 {
				break
			}
		}
	})
}

// A dish that is sold only as a part of a combo needs a rate, and nothing that belongs to a dish off the menu does.
func TestStore_combo_parts_need_a_tax_rate(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		ctx, o := t.Context(), optionService(s)
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassFood, dishIDs(t, s), now))(t)
		p := catalog.Pricing{
			Rates: []catalog.TaxRate{{Code: "VAT", Percent: "5"}}, Rules: []catalog.TaxRule{{TaxClass: catalog.ClassFood, Rate: "VAT"}},
		}
		testenv.Must(s.ChangePricing(ctx, authz.System(), branchID, p.Filled(), now))(t)
		l := newLibrary(t, o)
		tea := itemOfDish(t, s, 6) // in no other combo
		v := draft(t, s, 65000)
		testenv.Must(o.SetGroups(ctx, cook, v.ID, item, []catalog.VersionGroup{l.drinkGroup()}))(t)
		testenv.NoError(t, s.EditDraft(ctx, cook, v.ID, tea, catalog.Entry{Price: 25000}, now))
		testenv.Must(s.Publish(ctx, cook, v.ID, now))(t)

		_, err := s.SetTaxClass(ctx, authz.System(), catalog.ClassAlcohol, []int64{6}, now)
		testenv.Equal(t, 1, missingDishes(t, err))
		_, err = s.SetTaxClass(ctx, authz.System(), "", []int64{6}, now)
		if n := missingDishes(t, err); n != 1 {
			t.Errorf("%d dishes are reported without a class, want the tea of the combo", n)
		}
		put := func(class string) error {
			_, _, err := s.PutOption(ctx, authz.System(), 0, l.secondDrink, now,
				func(_ catalog.LibraryGroup, o catalog.LibraryOption) (catalog.LibraryOption, error) {
					o.TaxClass = class
					return o, nil
				})
			return err
		}
		testenv.NoError(t, put(catalog.ClassFood)) // the option's own class replaces that of its dish
		testenv.Must(s.SetTaxClass(ctx, authz.System(), catalog.ClassAlcohol, []int64{6}, now))(t)
		testenv.Equal(t, 1, missingDishes(t, put(catalog.ClassSoftDrink)))
		next := testenv.Must(s.Draft(ctx, cook, menuID, now))(t)
		testenv.NoError(t, s.EditDraft(ctx, cook, next.ID, item, catalog.Entry{Price: 65000}, now))
		testenv.Must(s.Publish(ctx, cook, next.ID, now))(t)
		testenv.NoError(t, put(catalog.ClassSoftDrink), put(""))
	})
}
