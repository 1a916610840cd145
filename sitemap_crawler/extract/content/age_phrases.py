"""The phrases for ages in the languages of the Unicode CLDR, https://cldr.unicode.org, from Babel.

Made by `python -m tests.support.write_age_phrases`.
"""

from __future__ import annotations

AGE_PHRASES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "af": (("", "gelede", "dae dag j jaar maand maande md min minute minuut s sekonde sekondes u uur w week weke"),),
    "ak": (("", "aatwam", "h m min s w y"),),
    "am": (("ከ", "በፊት", "ሰከ ሰከንድ ሰከንዶች ሰዓ ሰዓት ሰዓቶች ሳምንታት ሳምንት ቀናት ቀን ቀኖች ወራት ወር ዓመታት ዓመት ደቂ ደቂቃ ደቂቃዎች"),),
    "ar": (
        (
            "قبل",
            "",
            "أسابيع أسبوع أسبوعًا أشهر أيام ث ثانية ثوان ثوانِ د دقائق دقيقة س ساعات ساعة سنة سنوات شهر شهرًا يوم يومًا",
        ),
    ),
    "as": (("", "পূৰ্বে", "ঘণ্টা ছেকেণ্ড দিন বছৰ বছৰৰ মাহ মিনিট সপ্তাহ"),),
    "ast": (
        (
            "hai",
            "",
            "añ años añs añu día díes h hora hores hr hrs mes meses min mins minutos minutu seg segs segundos segundu sel selm selmana selmanes sels",
        ),
    ),
    "az": (("", "öncə", "ay dəq dəqiqə gün hft həftə il saat san saniyə"),),
    "be": (
        (
            "",
            "таму",
            "г гадз гадзін гадзіна гадзіну гадзіны гадоў гады год дзень дзён дні мес месяц месяца месяцаў месяцы с секунд секунда секунду секунды сут сутак суткі тыд тыдз тыдзень тыдняў тыдні хв хвілін хвіліна хвіліну хвіліны",
        ),
    ),
    "bew": (("", "nyangliwat", "ari bln bulan jem menit mgg minggu mnt sek sekon tahon thn"),),
    "bg": (
        (
            "преди",
            "",
            "г год година години д ден дни м мес месец месеца мин минута минути седм седмица седмици сек секунда секунди ч час часа",
        ),
    ),
    "bn": (("", "ে", "ঘন্টা ঘন্টাআগ দিন দিনআগ বছর বছরপূর্ব মাস মাসআগ মিনিট মিনিটআগ সপ্তাহ সপ্তাহআগ সেকেন্ড সেকেন্ডআগ সেকেন্ডপূর্ব"),),
    "br": (("", "zo", "bl bloaz d deiz e eilenn eur h m min miz munut s sizh sizhun viz vloaz vunut zeiz"),),
    "brx": (("", "सिगां", "d h m min s w y घंटे घन्टा दान बोसोर महीना महीने मिन मिनिट रिंगा सप्ताह सप्थाह सान साल सेकं सेकेण्ड"),),
    "bs": (
        (
            "prije",
            "",
            "d dan dana god godina godine godinu h min minuta minute minutu mj mjesec mjeseca mjeseci sat sata sati sed sedm sedmica sedmice sedmicu sek sekunda sekunde sekundi sekundu",
        ),
    ),
    "ca": (
        ("fa", "", "any anys dia dies h hora hores m mes mesos min minut minuts s segon segons setm setmana setmanes"),
    ),
    "ccp": (("", "𑄃𑄉𑄬", "𑄊𑄧𑄚𑄴𑄑 𑄊𑄧𑄚𑄴𑄘 𑄊𑄮𑄚𑄴𑄓 𑄘𑄨𑄚𑄴 𑄝𑄧𑄏𑄧𑄢𑄴 𑄟𑄌𑄴 𑄟𑄏𑄧 𑄟𑄨𑄚𑄨𑄖𑄴 𑄥𑄛𑄴𑄖 𑄥𑄬𑄇𑄬𑄚𑄳𑄓𑄴 𑄥𑄬𑄉𑄬𑄚𑄴"),),
    "ce": (("", "хьалха", "б бут бутт д де кӀир кӀира мин минот сахь сахьт сек секунд ш шо"),),
    "chr": (
        (
            "",
            "ᏥᎨᏒ",
            "ᎠᏎ ᎠᏎᏢ ᎢᎦ ᎢᏧᏕᏘᏴᏌᏗᏒᎢ ᎢᏯᏔ ᎢᏯᏔᏬᏍᏔᏅ ᎢᏳᎾ ᎢᏳᎾᏙᏓᏆᏍᏗ ᎢᏳᏟᎶᏓ ᎤᏕ ᎤᏕᏘᏴᏌᏗᏒᎢ ᎧᎸ ᎧᎸᎢ ᎯᎸᏍᎩᏧᏒᎯᏓ ᎯᎸᏍᎩᏧᏒᎯᏛ ᏑᏟ ᏑᏟᎶᏓ ᏒᎾ ᏒᎾᏙᏓᏆᏍᏗ ᏓᏓᎾᏩᏍᎬ ᏗᎧᎸᎢ ᏗᏎᏢ ᏧᏒᎯᏓ ᏧᏕ ᏧᏕᏘᏴᏌᏗᏒᎢ",
        ),
    ),
    "cs": (
        (
            "před",
            "",
            "den dnem dny dnů h hodin hodina hodinami hodinou hodiny l let lety min minut minuta minutami minutou minuty měs měsíc měsíce měsícem měsíci měsíců r rok rokem roky s sekund sekunda sekundami sekundou sekundy týd týden týdnem týdny týdnů",
        ),
    ),
    "cv": (
        ("-", "каялла", "кун мин минут сехет уйӑх уйӑхсем эрне ҫ ҫеккунт ҫул ҫулсем ҫулталӑксем"),
        ("-", ".каялла", "к кун мин минут сех сехет уй уйӑх уйӑхсем эр эрне ҫ ҫек ҫеккунт ҫулсем ҫулталӑксем"),
    ),
    "cy": (
        (
            "",
            "ynôl",
            "awr bl blynedd ddiwrnod diwrnod eil eiliad fis flwyddyn flynedd funud mis mlynedd mun munud oflynyddoedd ws wythnos",
        ),
    ),
    "da": (
        (
            "for",
            "siden",
            "dag dage md mdr min minut minutter måned måneder sek sekund sekunder t time timer uge uger år",
        ),
        ("", "siden", "dag dage md mdr min minut minutter måned måneder sek sekund sekunder t time timer uge uger år"),
    ),
    "de": (
        (
            "vor",
            "",
            "J Jahr Jahre Jahren Min Minute Minuten Mon Monat Monate Monaten Sek Sekunde Sekunden Std Stunde Stunden Tag Tage Tagen Tg Wo Woche Wochen",
        ),
    ),
    "dsb": (
        (
            "pśed",
            "",
            "dn dnja dnjami dnjom dnjoma dnjow dny góź góźina góźinami góźinje góźinoma góźinow góźinu góźiny l lět lěta lětami lěto lětom lětoma lěśe min minuta minutami minutoma minutow minutu minuty minuśe mjas mjasec mjaseca mjasecami mjasecom mjasecoma mjasecow mjasecy sek sekunda sekundami sekundoma sekundow sekundu sekundy sekunźe tyź tyźenja tyźenjami tyźenje tyźenjom tyźenjoma tyźenjow tyźeń ź źeń",
        ),
    ),
    "dz": (("", "ཧེ་མ་", "d h m min s w y"),),
    "ee": (("", "vayi", ""),),
    "el": (
        (
            "πριναπό",
            "",
            "έτ έτη έτος δευτ δευτερόλεπτα δευτερόλεπτο εβδ εβδομάδα εβδομάδες ημ ημέρα ημέρες λ λεπ λεπτά λεπτό μήν μήνα μήνας μήνες ώ ώρα ώρες",
        ),
    ),
    "en": (
        (
            "",
            "ago",
            "day days hour hours hr min minute minutes mo month months mth mths sec second seconds week weeks wk wks year years yr yrs",
        ),
    ),
    "eo": (
        (
            "antaŭ",
            "",
            "h horo horoj j jaro jaroj m min minuto minutoj mon monato monatoj s sek sekundo sekundoj sem semajno semajnoj t tago tagoj w",
        ),
    ),
    "es": (
        (
            "hace",
            "",
            "a año años d día días h hora horas m mes meses min minuto minutos s segundo segundos sem semana semanas",
        ),
    ),
    "et": (
        (
            "",
            "eest",
            "a aasta aastat kuu kuud min minut minuti minutit näd nädal nädala nädalat p päev päeva sek sekund sekundi sekundit t tund tundi tunni ööpäev ööpäeva",
        ),
    ),
    "eu": (("duela", "", "aste egun h hilabete min minutu ordu s segundo urte"),),
    "fa": (("", "پیش", "ثانیه دقیقه روز ساعت سال ماه هفته"),),
    "fi": (
        (
            "",
            "sitten",
            "kk kuukausi kuukautta min minuutti minuuttia pv päivä päivää s sekunti sekuntia t tunti tuntia v viikko viikkoa vk vuosi vuotta",
        ),
    ),
    "fil": (
        (
            "",
            "angnakalipas",
            "(na)araw (na)linggo araw buwan linggo min minuto naaraw nalinggo naminuto naoras nasegundo nataon oras seg segundo taon",
        ),
    ),
    "fo": (
        (
            "",
            "síðan",
            "d da dagar dagur min minutt minuttir minuttur mnð mánað mánaðir mánaður sek sekund sekundir t tímar tími vi vika vikur ár",
        ),
    ),
    "fr": (
        (
            "ilya",
            "",
            "a an ans h heure heures j jour jours m min minute minutes mois s seconde secondes sem semaine semaines",
        ),
    ),
    "frr": (
        (
            "föör",
            "",
            "daar j jrn juar juaren min minüten minüüten mnr muuner sek sekunden st stünj stünjen w wegen wgn",
        ),
    ),
    "fur": (
        (
            "",
            "indaûr",
            "agns an d h m min minût minûts mês ore oris s secont seconts setemane setemanis w y zornade zornadis",
        ),
    ),
    "fy": (
        (
            "",
            "lyn",
            "dagen dei deien jier jr min minuten minút mn moanne moanneen moannen oere oeren sek sekonde sekonden wike wiken wk wkn",
        ),
    ),
    "ga": (
        (
            "",
            "óshin",
            "bhl bhliain bl bliain bliana huaire lá m mbl mbliana mhí mí n-uairanchloig n-uaire nóim nóiméad scht seachtain seachtaine shcht sheachtain shoic shoicind soic soicind u uair uairanchloig",
        ),
    ),
    "gd": (
        (
            "",
            "airais",
            "bhlia bhliadhna bhliadhnaichean blia bliadhna bliadhnaichean dhiog diog diogan latha là làithean mhion mhionaid mhìos mion mionaid mionaidean mìos mìosan seachdain seachdainean sheachdain shn sn uair uairathìde uaireanathìde",
        ),
    ),
    "gl": (
        (
            "hai",
            "",
            "ano anos día días h hora horas mes meses min minuto minutos s segundo segundos sem semana semanas",
        ),
    ),
    "gu": (("", "પહેલાં", "અઠ અઠવાડિયા અઠવાડિયું કલાક દિવસ મહિના મહિનો મિનિટ વર્ષ સેકંડ"),),
    "ha": (("", "agabata", ""),),
    "he": (
        ("לפני", "", "דקה דקות דק׳ חודש חודשים ח׳ יום ימים ימ׳ שבוע שבועות שב׳ שנה שניה שניות שנים שנ׳ שעה שעות שע׳"),
    ),
    "hi": (("", "पहले", "घंटा घंटे घं॰ दिन महीना महीने माह मिनट मि॰ वर्ष सप्ताह सेकंड से॰"),),
    "hr": (
        (
            "prije",
            "",
            "dan dana g godina godine godinu h min minuta minute minutu mj mjesec mjeseca mjeseci s sat sata sati sekunda sekunde sekundi sekundu tj tjedan tjedana tjedna",
        ),
    ),
    "hsb": (
        (
            "před",
            "",
            "dn dnjej dnjemi dnjom dnjomaj dnjow dny dź dźeń hodź hodźina hodźinami hodźinje hodźinomaj hodźinow hodźinu hodźiny l lět lěta lětami lěto lětom lětomaj lěće min minuta minutami minutomaj minutow minutu minuty minuće měs měsac měsacaj měsacami měsacom měsacomaj měsacow měsacy sek sekunda sekundami sekundomaj sekundow sekundu sekundy sekundźe tydź tydźenje tydźenjej tydźenjemi tydźenjom tydźenjomaj tydźenjow tydźeń",
        ),
    ),
    "ht": (
        (
            "ilya",
            "",
            "a an ans h heure heures j jour jours m min minute minutes mois s seconde secondes sem semaine semaines",
        ),
    ),
    "hu": (
        (
            "",
            "lezelőtt",
            "hét hétte hónap hónappa mp másodperc másodpercce nap nappa p perc percce év évve ó óra óráva",
        ),
    ),
    "hy": (("", "առաջ", "ամիս ամս ժ ժամ շաբ շաբաթ վայրկյան վրկ տ տարի ր րոպե օր"),),
    "ia": (
        (
            "",
            "retro",
            "an anno annos die dies hora horas hr mense menses min minuta minutas mns sec secunda secundas sept septimana septimanas",
        ),
    ),
    "id": (
        ("", "yanglalu", "bln bulan detik dtk hari hr j jam menit mgg minggu mnt tahun thn"),
        ("", "lalu", "bln bulan detik dtk h hari hr j jam menit mgg minggu mnt tahun thn"),
    ),
    "ie": (("ante", "", "a annus d dies h hores mensus min minutes mn s sec secondes sem semanes"),),
    "is": (
        (
            "fyrir",
            "",
            "dagar dagur degi dögum klst klukkustund klukkustundir klukkustundum mán mánuði mánuðir mánuðum mánuður mín mínúta mínútu mínútum mínútur sek sekúnda sekúndu sekúndum sekúndur vika viku vikum vikur ár ári árum",
        ),
    ),
    "it": (
        (
            "",
            "fa",
            "anni anno g gg giorni giorno h mese mesi min minuti minuto ora ore s sec secondi secondo sett settimana settimane",
        ),
    ),
    "ja": (("", "前", "か月 分 年 日 時間 秒 週間"),),
    "jv": (("", "kepungkur", "detik dina dtk jam menit mnt pekan peken sasi taun"),),
    "ka": (
        ("", "ისწინ", "დღ დღე თვ თვე კვირ კვირა კვრ საათ საათი სთ წ წამ წამი წელი წთ წლ წმ წუთ წუთი"),
        ("", "წინ", "დღე დღის თვე თვის კვ კვირა კვრ საათი სთ წ წამი წელი წთ წმ წუთი"),
    ),
    "kab": (
        (
            "",
            "aya",
            "ml mln mls ndduṛt ndduṛtat nisragen ntasinin ntasint ntesdat ntesdatin ntsinin ntsint nuseggas nusrag nwass nwayyur nwayyuren nwussan nyimalas nyimalasen nyiseggasen nyisragen sg sgn sr tsd tsn yr yyr yyrn",
        ),
    ),
    "kea": (("aten", "", "anu dia h mes min minutu ora sig sigundu sim simana"),),
    "kgp": (("", "siser", "h kurãag kysãag min prỹgag sig sim simỹnỹag"),),
    "kk": (("", "бұрын", "ай ап апта ж жыл күн мин минут с сағ сағат сек секунд"),),
    "kl": (
        (
            "for",
            "siden",
            "d h min minutsi mån nalunaaquttap-akunnera qaammat s sapaatip-akunnera sekundi u ukioq ulloqunnuarlu",
        ),
    ),
    "km": (
        (
            "",
            "មុន",
            "ខែ ឆ្នាំ ឆ្នាំ\u200b ថ្ងៃ ថ្ងៃ\u200b ថ្ងៃ\u200b\u200b នាទី នាទី\u200b នាទី\u200b\u200b ម៉ោង ម៉ោង\u200b វិនាទី វិនាទី\u200b សប្ដាហ៍ សប្ដាហ៍\u200b",
        ),
    ),
    "kn": (
        (
            "",
            "ಹಿಂದೆ",
            "ಗಂ ಗಂಟೆ ಗಂಟೆಗಳ ಗಂಟೆಗಳು ಗಂಟೆಯು ತಿಂ ತಿಂ.ಗಳು ತಿಂಗಳ ತಿಂಗಳು ತಿಂಗಳುಗಳ ದಿನ ದಿನಗಳ ದಿನಗಳು ದಿನದ ದಿನವು ನಿಮಿ ನಿಮಿಷಗಳ ನಿಮಿಷಗಳು ನಿಮಿಷದ ನಿಮಿಷವು ವರ್ಷ ವರ್ಷಗಳ ವರ್ಷಗಳು ವರ್ಷದ ವರ್ಷವು ವಾರ ವಾರಗಳ ವಾರಗಳು ವಾರದ ವಾರವು ಸೆಕೆಂ ಸೆಕೆಂಡುಗಳ ಸೆಕೆಂಡುಗಳು ಸೆಕೆಂಡ್",
        ),
    ),
    "ko": (("", "전", "개월 년 분 시간 일 주 초"),),
    "kok": (("", "आदीं", "दीस मिण्टां मिनीट मिन्टां म्हयने म्हयन्यां वर वरा वरां वर्स वर्सां सप्तक सप्तकां से सेकंद सेकंदांनी"),),
    "ky": (
        ("", "мурун", "-ж ай апт апта ж жыл күн мүн мүнөт саат сек секунд ст"),
        ("", ".мурун", "-ж ай апт апта ж жыл күн мүн мүнөт саат сек секунд ст"),
    ),
    "la": (("abhinc", "", "an d dies h hebd hr m men min s sec w y"),),
    "lb": (
        (
            "viru",
            "",
            "D Dag Deeg J Joer Min Minutt Minutten Mnt Mount Méint Sek Sekonn Sekonnen St Stonn Stonnen W Woch Wochen",
        ),
    ),
    "lij": (
        (
            "l’é",
            "",
            "anni anno g giorni giorno meise meixi men menuti menuto oa oe s segondi segondo sett settemaña settemañe",
        ),
    ),
    "lkt": (("Hékta", "uŋhéhaŋ", "-čháŋ -čháŋk’ min"),),
    "lld": (
        (
            "danda",
            "",
            "agn d dis ede edemes h m menüc min mëisc nann nde nmenüt nmin nmëis nsec nsecunt n’ede n’edema n’ora ores s sec secunc w y",
        ),
    ),
    "lo": (("", "ກ່ອນ", "ຊມ ຊົ່ວໂມງ ດ ນທ ນາທີ ປີ ມື້ ວິ ວິນາທີ ອທ ອາທິດ ເດືອນ"),),
    "lt": (
        (
            "prieš",
            "",
            "d diena dienas dienos dieną dienų m metai metus metų min minutes minutė minutės minutę minučių mėn mėnesiai mėnesius mėnesių mėnesį mėnuo sav savaites savaitė savaitės savaitę savaičių sek sekundes sekundė sekundės sekundę sekundžių val valanda valandas valandos valandą valandų",
        ),
    ),
    "lv": (
        (
            "pirms",
            "",
            "d diena dienas dienu dienām g gada gadi gadiem gads gadu min minūte minūtes minūtēm minūšu mēn mēnesis mēneša mēneši mēnešiem mēnešu ned nedēļa nedēļas nedēļu nedēļām sek sekunde sekundes sekundēm sekunžu st stunda stundas stundu stundām",
        ),
    ),
    "mai": (
        ("", "े", "d h m min s w y घंटापहिल दिनम बरखपहिल माहपहिल मिनटपहिल सप्ताहपहिल सेकेंडपहिल"),
        ("", "पहिले", "d h m min s w y घंटा दिन बरख माह मिनट सप्ताह सेकेंड"),
    ),
    "mi": (("", "imua", "h haora hēk hēkona m marama men meneti rā tau w wiki"),),
    "mk": (
        (
            "пред",
            "",
            "год година години ден дена мес месец месеци мин минута минути сед седмица седмици сек секунда секунди ч час часа",
        ),
    ),
    "ml": (("", "മുമ്പ്", "ആ ആഴ്ച ദിവസം ദിവസം\u200c മ മണിക്കൂർ മാസം മി മിനിറ്റ് വ വർഷം സെ സെക്കൻഡ്"),),
    "mn": (
        (
            "",
            "нөмнө",
            "д.х долоохоног долоохоногий жил жилий мин минут минуты сар сары сек секунд секунды хоног цаг цагий өдрий",
        ),
        ("", "өмнө", "7хоногийн д.х долоохоног жил жилийн мин минут сар сарын сек секунд хоног ц цаг өдрийн"),
    ),
    "mr": (
        (
            "",
            "पूर्वी",
            "आ आठवडा आठवडे आठवड्या आठवड्यां ता तास तासा तासां दिवस दिवसा दिवसां महिना महिने महिन्या महिन्यां मिनि मिनिट मिनिटा मिनिटां मिनिटे वर्ष वर्षा वर्षां वर्षे से सेकंद सेकंदा सेकंदां",
        ),
    ),
    "ms": (("", "lalu", "bln bulan hari j jam mgu min minggu minit saat tahun thn"),),
    "mt": (
        (
            "",
            "ilu",
            "-ilmin -ilminuta -ilsek -ilsekonda -ilsena -ilsiegħa -ilxahar -ilġimgħa -ilġurnata d h m min minuta minuti s sek sekonda sekondi sena siegħa sigħat snin w xahar xhur y ġimgħa ġimgħat ġranet ġurnata",
        ),
    ),
    "my": (("ပြီးခဲ့သည့်", "", "sec စက္ကန့် နာရီ နှစ် ပတ် မိနစ် ရက် လ"),),
    "mzn": (("", "پیش", "h ثانیه دقیقه دَقه روز ساعت ساعِت سال ماه هفته"),),
    "nb": (
        ("for", "siden", "d døgn md min minutt minutter måned måneder sek sekund sekunder t time timer u uke uker år"),
    ),
    "nl": (
        (
            "",
            "geleden",
            "dag dagen dgn jaar jr maand maanden min minuten minuut mnd sec seconde seconden uur week weken wk wkn",
        ),
    ),
    "nn": (("for", "sidan", "d døgn md min minutt månad månadar s sek sekund t timar time v veke veker år"),),
    "no": (
        ("for", "siden", "d døgn md min minutt minutter måned måneder sek sekund sekunder t time timer u uke uker år"),
    ),
    "or": (("", "ପୂର୍ବେ", "ଘ ଘଣ୍ଟା ଦିନ ବ ବର୍ଷ ମା ମାସ ମି ମିନିଟ୍ ମିନିଟ୍\u200c ସପ୍ତା ସପ୍ତାହ ସେ ସେକେଣ୍ଡ"),),
    "pa": (("", "ਪਹਿਲਾਂ", "ਘੰਟਾ ਘੰਟੇ ਦਿਨ ਮਹੀਨਾ ਮਹੀਨੇ ਮਿੰਟ ਸਕਿੰਟ ਸਾਲ ਹਫ਼ਤਾ ਹਫ਼ਤੇ"),),
    "pcm": (("", "wédọ́npas", "Dè Mínit Mọnt Sẹ́kọn Wik Yiẹ dez dè mínit mọnt sẹ́kọn wik yiẹ Áwa áwa"),),
    "pl": (
        (
            "",
            "temu",
            "dni dzień godz godzin godzina godziny godzinę lat lata mies miesiąc miesiące miesięcy min minut minuta minuty minutę rok sek sekund sekunda sekundy sekundę tydz tydzień tyg tygodni tygodnie",
        ),
    ),
    "ps": (
        (
            "",
            "مخکې",
            "/کال h m mths sec w wks اونۍ ثانيه ثانيې ثانیه ثانیې دقيقه دقيقې دقیقه دقیقې ساعت ساعتونه مياشت مياشتې ورځ ورځې کال کاله کالونه",
        ),
    ),
    "pt": (
        (
            "há",
            "",
            "ano anos dia dias h hora horas meses min minuto minutos mês s seg segundo segundos sem semana semanas",
        ),
    ),
    "rhg": (("", "𐴀𐴝𐴒𐴠", "d h m min s w y 𐴁𐴡𐴏𐴥𐴡𐴌 𐴇𐴥𐴝𐴉𐴃𐴝 𐴊𐴞𐴕 𐴏𐴠𐴑𐴤𐴠𐴕 𐴒𐴤𐴡𐴕𐴄𐴤𐴝 𐴔𐴝𐴐𐴢 𐴔𐴞𐴕𐴥𐴡𐴄"),),
    "ro": (
        (
            "acum",
            "",
            "an ani deani deluni deminute deore desecunde desăptămâni dezile h luni lună min minut minute ore oră s sec secunde secundă săpt săptămâni săptămână zi zile",
        ),
    ),
    "ru": (
        (
            "",
            "назад",
            "г год года день дн дней дня л лет мес месяц месяца месяцев мин минут минута минуту минуты нед недели недель неделю неделя с сек секунд секунда секунду секунды ч час часа часов",
        ),
    ),
    "sah": (
        (
            "",
            "нарааөттүгэр",
            "күн күны мүн мүнүүтэ мүнүүтэы нэд нэдиэлэ нэдиэлэа с сыл сылы сөк сөк.а сөкүүндэ сөкүүндэы ч чаас чаасы ый ыйы",
        ),
    ),
    "sc": (
        (
            "",
            "acomo",
            "annos annu ch chida chidas die dies mese meses min minutos minutu ora oras seg segundos segundu",
        ),
    ),
    "sd": (("", "پهرين", "سال سيڪنڊ فيسيڪنڊ منٽ مهينا مهينو هفتا هفتو ڏينهن ڪلاڪ"),),
    "se": (
        (
            "",
            "árat",
            "d diibmu diibmur diimmur h jah jahki jahkki jándor jándora min minuhta minuhtta mán mánotbadji mánotbaji s sekunda sekundda v vahkku vahku váhkku váhku",
        ),
    ),
    "si": (("", "කටපෙර", ""),),
    "sk": (
        (
            "pred",
            "",
            "d deň dni dní dňami dňom h hodina hodinami hodinou hodiny hodín mes mesiac mesiace mesiacmi mesiacom mesiacov min minút minúta minútami minútou minúty r rok rokmi rokom rokov roky s sekunda sekundami sekundou sekundy sekúnd týž týždeň týždne týždňami týždňom týždňov",
        ),
    ),
    "sl": (
        (
            "pred",
            "",
            "d dan dneva dnevi dnevom dnevoma dni h l let leti leto letom letoma m mes mesec meseca mesecem mesecema mesecev meseci min minut minuta minutama minutami minute minuti minuto s sek sekund sekunda sekundama sekundami sekunde sekundi sekundo t ted teden tedna tedni tednom tednoma tednov ur ura urama urami ure uri uro",
        ),
    ),
    "so": (
        (
            "",
            "kahor",
            "Sannad Sannado bil bilood daqiiqad daqiiqadood daqiiqo dqqd ilbiriqsi ilbrqsi maalin maalmood mln saacad saacadood sannad sannadood scd snd tdbd toddobaad toddobaadyo",
        ),
    ),
    "sq": (("", "mëparë", "ditë javë min minuta minutë muaj orë sek sekonda sekondë vit vjet"),),
    "sr": (
        (
            "пре",
            "",
            "год година године дан дана мес месец месеца месеци мин минут минута нед недеља недеље сат сата сати сек секунда секунде секунди",
        ),
    ),
    "sv": (
        (
            "för",
            "sedan",
            "d dag dagar dygn min minut minuter mån månad månader s sekund sekunder tim timmar timme v vecka veckor år",
        ),
    ),
    "sw": (("", "opita", ""),),
    "syr": (
        (
            "ܡ̣ܢܩܕܡ",
            "ܐ",
            "ܖ̈ܦܦ ܖ̈ܦܦܐ ܝܖ̈ܚ ܝܘܡܢ̈ ܝܘܡܢ̈ܐ ܝܪ̈ܚ ܝܪ̈ܚܐ ܩܛܝ̈ܢ ܩܛܝܢ̈ܐ ܩܛܝܢܐ ܪ̈ܦܦܐ ܪܦܦܐ ܫ̈ܢܐ ܫ̈ܥܐ ܫܒ̈ܘܥ ܫܒ̈ܘܥܐ ܫܒܘܥܐ ܫܢܝ̈ ܫܥ̈ ܫܥܬܐ",
        ),
    ),
    "szl": (("", "tymu", "dnia godz godziny mies miesiōnca min minuty roku sek sekundy tyd tydnia"),),
    "ta": (
        (
            "",
            "முன்",
            "ஆண்டிற்கு ஆண்டு ஆண்டுகளுக்கு ஆண்டுகள் நாட்களுக்கு நாட்கள் நாளுக்கு நாள் நிமி நிமிட நிமிடங்களுக்கு நிமிடங்கள் நிமிடத்திற்கு நிமிடம் மணி மணிநேரங்கள் மணிநேரம் மாத மாதங்களுக்கு மாதங்கள் மாதத்துக்கு மாதம் வார வாரங்களுக்கு வாரங்கள் வாரத்திற்கு வாரம் விநா விநாடி விநாடிகளுக்கு விநாடிகள் விநாடிக்கு",
        ),
    ),
    "te": (
        (
            "",
            "క్రితం",
            "గం గంట గంటల గంటలు నిమి నిమిషం నిమిషాల నిమిషాలు నె నెల నెలల నెలలు రోజు రోజుల రోజులు వా వారం వారాల వారాలు సం సంవత్సరం సంవత్సరాల సంవత్సరాలు సె సెక సెకను సెకన్ల సెకన్లు",
        ),
    ),
    "tg": (("", "пеш", "d h m min s w y дақ дақиқа м моҳ рӯз с соат сол сон сония ст ҳ ҳафта"),),
    "th": (("", "ที่แล้ว", "ชม ชั่วโมง นาที ปี วัน วิ วินาที สัปดาห์ เดือน"),),
    "ti": (("ቅድሚ", "", "/ኣዋርሕ /ወርሒ መዓልቲ መዓልታት ሰሙ ሰሙናት ሰሙን ሰዓ ሰዓታት ሰዓት ሴኮንድ ካልኢት ወርሒ ዓ ዓመታት ዓመት ደቒቓ ደቒቓታት ደቒቕ"),),
    "tk": (("", "öň", "a aý g gün hep hepde min minut sag sagat sek sekunt ý ýyl"),),
    "to": (("", "kuoʻosi", ""),),
    "tr": (("", "önce", "ay dakika dk gün hafta hf sa saat saniye sn yıl"),),
    "trw": (("", "موش", "دی دیے سیکنڈ ما مائے میلٹ کال کالا گینٹائے گینٹہ ہفتائے ہفتہ"),),
    "tt": (("", "элек", "d h m min s w y ай атна ел көн мин минут с секунд сәг сәгать"),),
    "ug": (("", "ئىلگىرى", "ئاي سائەت سېكۇنت كۈن مىنۇت يىل ھەپتە"),),
    "uk": (
        (
            "",
            "тому",
            "год годин година години годину день дн дні днів міс місяць місяці місяців р роки років рік с секунд секунда секунди секунду тиж тиждень тижні тижнів хв хвилин хвилина хвилини хвилину",
        ),
    ),
    "ur": (("", "پہلے", "دن دنوں سال سیکنڈ منٹ مہینہ مہینے گھنٹہ گھنٹے ہفتہ ہفتے"),),
    "uz": (("", "oldin", "daq daqiqa hafta kun oy soat son soniya yil"),),
    "vec": (("che", "", "ani ano dì men menuti menuto meze mezi ora ore seg segondi segondo set setemana setemane"),),
    "vi": (("", "trước", "giây giờ ngày năm phút tháng tuần"),),
    "wo": (("", "ciginaaw", "at ayi-b ayi-bis d fan h m min s saa sim simili w wax waxtu we weer y"),),
    "xnr": (("", "पैले", "d h m min s w y घंटे घं॰ ध्याड़े मिंट मि॰ मीन्ने सकिंट साल स॰ हफ्तेयां"),),
    "yrl": (
        (
            "aikué",
            "itá",
            "akayú akayú-ita ara ara-ita h hura hura-ita min minutu minutu-ita seg segũdu segũdu-ita sem sẽm sẽmãna sẽmãna-ita yasí yasí-ita",
        ),
    ),
    "yue": (("", "前", "個星期 個月 分鐘 天 小時 年 日 秒 週"),),
    "zh": (("", "前", "个月 分钟 周 天 小时 年 秒 秒钟"),),
    "zu": (
        (
            "",
            "dlule",
            "amahora amaminithi amaminithie amasekhondi amasekhondie amaviki hora hr ihora ihoraele iminithi iminithiele inyanga isekhondi isekhondiele iviki izinsuku izinsukueze izinyanga izinyangaeze nyanga sec sekhondi unyakao usuku usukuolwe viki y",
        ),
    ),
}
"""By language, for each kind of ages: what all of them begin with, what all of them end with, and the units between.

Nothing has white space but between two units.
"""
