const others = Array.from({ length: 59 }, (_, i) => `Món khác,Món số ${String(i + 1)},${String(20 + i)}k,Other,Dish ${String(i + 1)}\n`)
/** A menu of 60 dishes in two languages. */
export const sixty = `category,name,price,category:en,name:en\nPhở,Phở bò,65k,Pho,Beef pho\n${others.join('')}`

/** A menu file with this text, as a browser uploads it. */
export const menuFile = (text: string) => ({ name: 'menu.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
