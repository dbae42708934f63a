package cataloghttp

import (
	"context"
	"net/http"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

func (s *staff) registerDishes(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-category-list", "GET /api/categories", "List categories in menu order", s.categories)
	httpapi.Register(ops, "staff-category-add", "POST /api/categories",
		"Add a category", s.addCategory, httpapi.Created)
	httpapi.Register(ops, "staff-category-edit", "PATCH /api/categories/{id}", "Edit a category", s.editCategory)
	httpapi.RegisterOutput(ops, "staff-category-drop", "DELETE /api/categories/{id}",
		"Delete a category without dishes", s.deleteCategory)
	httpapi.Register(ops, "staff-dish-list", "GET /api/dishes", "List dishes", s.dishes)
	httpapi.Register(ops, "staff-dish-add", "POST /api/dishes", "Add a dish", s.addDish, httpapi.Created)
	httpapi.Register(ops, "staff-dish-edit", "PATCH /api/dishes/{id}", "Edit a dish", s.editDish)
	httpapi.RegisterOutput(ops, "staff-dish-retire", "DELETE /api/dishes/{id}",
		"Archive a dish that is on no menu; orders still refer to it", s.retire)
}

type categoryInfo struct {
	ID           string        `json:"id"`
	Sort         int64         `json:"sort"`
	Names        catalog.Texts `json:"names"`
	Descriptions catalog.Texts `json:"descriptions"`
	Dishes       int64         `json:"dishes" doc:"Number of its dishes, including retired ones."`
	UpdatedAt    time.Time     `json:"updatedAt"`
	BranchIDs    []string      `json:"branchIds,omitempty" doc:"In lists: your branches that have its dishes on a menu."`
}

func categoryInfoOf(h catalog.Category) categoryInfo {
	return categoryInfo{
		ID: httpapi.FormatID(h.ID), Sort: h.Sort, Names: h.Names, Descriptions: textsOrEmpty(h.Descriptions), Dishes: h.Dishes,
		UpdatedAt: h.UpdatedAt,
	}
}

func (s *staff) categories(ctx context.Context, in *httpapi.LongPaging) (httpapi.Listed[categoryInfo], error) {
	page, total, err := s.Dishes.Categories(ctx, in.Size, in.Offset())
	by := authz.ActorOf(ctx)
	return httpapi.ListedOf(httpapi.Paging(*in), page, total, func(h catalog.Category) categoryInfo {
		info := categoryInfoOf(h)
		info.BranchIDs = seq.Map(seq.Filter(h.Branches, by.Sees), httpapi.FormatID)
		return info
	}), err
}

// categoryEdit is a change to a category. Omitted fields stay as they are.
type categoryEdit struct {
	Sort         *int64        `json:"sort,omitempty" doc:"Position on menus; a new category comes last."`
	Names        catalog.Texts `json:"names,omitempty" text:"line" doc:"By locale; a new category needs at least one."`
	Descriptions catalog.Texts `json:"descriptions,omitempty" text:"lines"`
}

type categoryAddIn struct{ Body categoryEdit }

type categoryEditIn struct {
	ID   int64 `path:"id" minimum:"1"`
	Body categoryEdit
}

func (s *staff) putCategory(ctx context.Context, id int64, e categoryEdit) (categoryInfo, error) {
	h, err := s.Dishes.PutCategory(ctx, authz.ActorOf(ctx), id, catalog.CategoryEdit(e))
	return categoryInfoOf(h), err
}

func (s *staff) addCategory(ctx context.Context, in *categoryAddIn) (categoryInfo, error) {
	return s.putCategory(ctx, 0, in.Body)
}

func (s *staff) editCategory(ctx context.Context, in *categoryEditIn) (categoryInfo, error) {
	return s.putCategory(ctx, in.ID, in.Body)
}

func (s *staff) deleteCategory(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, s.Dishes.DeleteCategory(ctx, authz.ActorOf(ctx), in.ID)
}

type dish struct {
	ID           string        `json:"id"`
	CategoryID   string        `json:"categoryId"`
	Names        catalog.Texts `json:"names"`
	Descriptions catalog.Texts `json:"descriptions"`
	ImageID      *string       `json:"imageId" doc:"null without a picture, and for pictures that were not uploaded here."`
	ImageURL     *string       `json:"imageUrl"`
	TaxClass     *string       `json:"taxClass" doc:"Code of its tax class; null if not stated."`
	Declared
	OnMenu    bool      `json:"onMenu" doc:"Whether the dish is on a published menu of any branch."`
	Retired   bool      `json:"retired"`
	UpdatedAt time.Time `json:"updatedAt"`
}

func dishInfoOf(d catalog.Dish) dish {
	return dish{
		ID: httpapi.FormatID(d.ID), CategoryID: httpapi.FormatID(d.CategoryID), Names: d.Names,
		Descriptions: textsOrEmpty(d.Descriptions), ImageID: httpapi.OrNull(catalog.ImageIDOf(d.ImageURL)),
		ImageURL: httpapi.OrNull(d.ImageURL), TaxClass: httpapi.OrNull(d.TaxClass), Declared: declaredOf(d.Declaration),
		OnMenu: d.OnMenu, Retired: d.Retired, UpdatedAt: d.UpdatedAt,
	}
}

type dishesIn struct {
	httpapi.LongPaging
	CategoryID int64  `query:"categoryId" minimum:"0"`
	Q          string `query:"q" text:"line" maxLength:"100" doc:"Part of the name, in any language."`
	Retired    bool   `query:"retired" doc:"Includes retired dishes."`
	Undeclared bool   `query:"undeclared" doc:"Only dishes without a declaration about allergens."`
}

func (s *staff) dishes(ctx context.Context, in *dishesIn) (httpapi.Listed[dish], error) {
	page, total, err := s.Dishes.Dishes(ctx, catalog.DishFilter{
		Category: in.CategoryID, Query: in.Q, Retired: in.Retired, Undeclared: in.Undeclared,
		Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(httpapi.Paging(in.LongPaging), page, total, dishInfoOf), err
}

type dishAddIn struct{ Body newDish }

type newDish struct {
	CategoryID   string        `json:"categoryId" pattern:"^[1-9][0-9]{0,17}$"`
	Names        catalog.Texts `json:"names" text:"line" doc:"By locale, at least one."`
	Descriptions catalog.Texts `json:"descriptions,omitempty" text:"lines"`
	ImageID      string        `json:"imageId,omitempty" text:"exact" maxLength:"64"`
	TaxClass     string        `json:"taxClass,omitempty" pattern:"^[A-Z0-9_]{0,20}$" doc:"Code of a tax class."`
	DeclarationEdit
}

type dishEditIn struct {
	ID   int64 `path:"id" minimum:"1"`
	Body dishEdit
}

// dishEdit is a change to a dish. Omitted fields stay as they are.
type dishEdit struct {
	CategoryID   *string       `json:"categoryId,omitempty" pattern:"^[1-9][0-9]{0,17}$"`
	Names        catalog.Texts `json:"names,omitempty" text:"line"`
	Descriptions catalog.Texts `json:"descriptions,omitempty" text:"lines"`
	ImageID      *string       `json:"imageId,omitempty" text:"exact" maxLength:"64" doc:"Empty removes the image."`
	TaxClass     *string       `json:"taxClass,omitempty" pattern:"^[A-Z0-9_]{0,20}$" doc:"Code of a tax class; empty removes it."`
	DeclarationEdit
}

func (s *staff) putDish(ctx context.Context, id int64, e catalog.DishEdit) (dish, error) {
	d, err := s.Dishes.PutDish(ctx, authz.ActorOf(ctx), id, e)
	return dishInfoOf(d), err
}

func (s *staff) addDish(ctx context.Context, in *dishAddIn) (dish, error) {
	return s.putDish(ctx, 0, catalog.DishEdit{
		CategoryID: new(httpapi.IDOf(in.Body.CategoryID)), Names: in.Body.Names, Descriptions: in.Body.Descriptions,
		Image: &in.Body.ImageID, TaxClass: &in.Body.TaxClass, Declared: in.Body.edit(),
	})
}

func (s *staff) editDish(ctx context.Context, in *dishEditIn) (dish, error) {
	e := catalog.DishEdit{Names: in.Body.Names, Descriptions: in.Body.Descriptions, Image: in.Body.ImageID,
		TaxClass: in.Body.TaxClass, Declared: in.Body.edit()}
	if in.Body.CategoryID != nil {
		e.CategoryID = new(httpapi.IDOf(*in.Body.CategoryID))
	}
	return s.putDish(ctx, in.ID, e)
}

func (s *staff) retire(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, s.Dishes.Retire(ctx, authz.ActorOf(ctx), in.ID)
}

// uploadedImage is the response to an upload.
type uploadedImage struct {
	ID       string `json:"id"`
	ImageURL string `json:"imageUrl"`
}

// registerImages registers the upload route.
func registerImages(a *httpapi.API, images *catalog.Images) {
	route := httpapi.Route{
		Pattern: "POST /api/images", Policy: httpapi.Staff, Module: "MENUS", Name: "Upload a picture of a dish",
	}
	a.HandleImages(route, http.StatusCreated, func(r *http.Request, raw []byte) (any, error) {
		id, err := images.Add(r.Context(), raw)
		return uploadedImage{id, catalog.ImageURL(id)}, err
	})
}

// Declared is the declaration of a dish or an option. It is exported because huma only reads exported embedded fields.
type Declared struct {
	Allergens *allergens     `json:"allergens" doc:"What it contains of the 14 allergens of Regulation (EU) 1169/2011; null if nothing is declared, which does not mean that it contains none."`
	Diets     []catalog.Diet `json:"diets" enum:"VEGETARIAN,VEGAN,HALAL,KOSHER" doc:"The diets that it is made for; a missing one is not promised."`
}

// allergens are GS1 codes.
type allergens struct {
	Contains   []catalog.Allergen `json:"contains" enum:"AW,AC,AE,AF,AP,AY,AM,AN,BC,BM,AS,AU,NL,UM" doc:"GS1 codes: AW gluten, AC crustaceans, AE egg, AF fish, AP peanuts, AY soya, AM milk, AN nuts, BC celery, BM mustard, AS sesame, AU sulphites, NL lupin, UM molluscs."`
	MayContain []catalog.Allergen `json:"mayContain" enum:"AW,AC,AE,AF,AP,AY,AM,AN,BC,BM,AS,AU,NL,UM" doc:"Traces are possible."`
}

func declaredOf(d catalog.Declaration) Declared {
	return Declared{allergensOf(d.Allergens), append([]catalog.Diet{}, d.Diets...)}
}

func allergensOf(a *catalog.Allergens) *allergens {
	if a == nil {
		return nil
	}
	return &allergens{append([]catalog.Allergen{}, a.Contains...), append([]catalog.Allergen{}, a.MayContain...)}
}

// DeclarationEdit is a change to a declaration. Omitted fields stay as they are.
type DeclarationEdit struct {
	Allergens *allergensEdit `json:"allergens,omitempty" doc:"Replaces the declaration about all 14 allergens."`
	Diets     *[]dietCode    `json:"diets,omitempty" text:"exact" maxItems:"20" doc:"Replaces the diets: VEGETARIAN, VEGAN, HALAL, KOSHER."`
}

// Codes have no enum, so that unknown ones are refused with a code like all wrong declarations.
type (
	allergensEdit struct {
		Declared   bool           `json:"declared" doc:"false removes the declaration; the lists are empty then."`
		Contains   []allergenCode `json:"contains" text:"exact" maxItems:"20" doc:"GS1 codes, as in responses; with both lists empty, none of the 14 are contained."`
		MayContain []allergenCode `json:"mayContain" text:"exact" maxItems:"20"`
	}
	allergenCode string
	dietCode     string
)

func (e DeclarationEdit) edit() catalog.DeclarationEdit {
	var out catalog.DeclarationEdit
	if e.Diets != nil {
		out.Diets = new(seq.Map(*e.Diets, func(c dietCode) catalog.Diet { return catalog.Diet(c) }))
	}
	if a := e.Allergens; a != nil {
		code := func(c allergenCode) catalog.Allergen { return catalog.Allergen(c) }
		out.Allergens = &catalog.AllergensEdit{
			Declared:  a.Declared,
			Allergens: catalog.Allergens{Contains: seq.Map(a.Contains, code), MayContain: seq.Map(a.MayContain, code)},
		}
	}
	return out
}
