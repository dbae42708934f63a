// Package demo is a restaurant to try Comanda with: one branch in Hà Nội and one in Taipei, with 28 dishes in three
// languages, twelve tables and some quotas. The data stands in restaurant.json.
package demo
