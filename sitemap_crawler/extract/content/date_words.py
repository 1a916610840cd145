"""The words of dates in the languages of the Unicode CLDR, https://cldr.unicode.org, from Babel.

Made by `python -m tests.support.write_date_words`.
"""

from __future__ import annotations

DATE_WORDS = frozenset(
    """
    abr abril ag ago agost agosto agu agustus alla am an antradienis août apr april aprile aprilie aprill apríl apríla
    aprīlis ara aralık aug august augusta augusti augusts augustus augusztus avg avgust avr avril ağu ağustos ba bal
    balandis balandžio birž birželio birželis bře březen března bảy ceturtd ceturtdiena chủ cmt cn cs csütörtök cum cuma
    cumartesi cze czerwca czerwiec czw czwartek dc de dec december decembra decembrie decembris del den des desember
    desembre dets detsember dez dezember dezembro dg di dic dicembre diciembre dienstag dijous dilluns dim dimanche
    dimarts dimecres dinsdag dissabte diumenge divendres dj dl do dom domenica domingo donderdag donnerstag ds dt dub
    duben dubna dum duminică dv déc décembre eki ekim elo elokuu elokuuta ene enero er esmaspäev eyl eylül feb febbraio
    febr febrer febrero februar februari februarie february február februára februāris feira fev fevereiro fr fre fredag
    freitag fri friday févr février gada geg gegužė gegužės gen gener gennaio gio giovedì giu giugno gru grudnia
    grudzień gruod gruodis gruodžio hafta hai haz haziran heinä heinäkuu heinäkuuta helmi helmikuu helmikuuta hf huhti
    huhtikuu huhtikuuta hét hétfő ian ianuarie iul iulie iun iunie jaan jaanuar jan janeiro januar januari january
    január januára janv janvier janvāris jeu jeudi joi joulu joulukuu joulukuuta jue jueves juil juillet juin jul julho
    juli julij julio juliol july jum jumat jun june junho juni junij junio juny juuli juuni júl júla július jún júna
    június jūl jūlijs jūn jūnijs kam kamis kas kasım ke kedd keskiviikko keskiviikkona kesä kesäkuu kesäkuuta
    ketvirtadienis kol kolmapäev kolovoz kolovoza kov kovas kovo kt kvě květen května kw kwi kwiecień kwietnia la lapkr
    lapkritis lapkričio lauantai lauantaina laupäev le led leden ledna liep liepa liepos lip lipanj lipca lipiec lipnja
    lis listopad listopada listopadu loka lokakuu lokakuuta lug luglio lun lundi lunedì lunes luni lut lutego luty lör
    lördag lør lørdag ma maalis maaliskuu maaliskuuta maanantai maanantaina maandag maart mag maggio mai maig maijs maio
    maj maja man mandag mar marca march mardi marec maret marras marraskuu marraskuuta mars mart martedì martes martie
    marts marzec marzo març março marți may mayo mayıs mei mer mercoledì mercredi mgg mi mie miercuri min minggu
    mittwoch mié miércoles mo mon monday montag mrt máj mája május márc március mär märts märz mån måndag na nd ne ned
    nedelja nedeľa nedjelja nedēļa nedēļas nedēļu nedēļā neděle neljapäev nhật niedz niedziela nis nisan noiembrie nov
    november novembra novembre novembris novembro noviembre näd nädal nädalas nädalat năm oca ocak oct october octobre
    octombrie octubre of okt oktober oktobris oktoober október októbra ons onsdag otrd otrdiena ott ottobre out outubro
    ožu ožujak ožujka par paz pazar pazartesi paź październik października pe penktadienis per perjantai perjantaina
    perşembe pet petak petek pi piatok piektd piektdiena pirmadienis pirmd pirmdiena piątek pn po pon pondelok pondělí
    ponedeljek ponedjeljak poniedziałek por pr pro prosinac prosinca prosince prosinec pt pzt pá pátek péntek pühapäev
    qua quarta qui quinta rab rabu rd reede rugp rugpjūtis rugpjūčio rugs rugsėjis rugsėjo ruj rujan rujna sa sab sabato
    sabtu sal salı sam samedi samstag sat saturday saus sausio sausis sav savaitė savaitės savaitę savaičių seg segunda
    sekmadienis sel selasa sem semaine semaines semana semanas sen senin sep sept september septembra septembre
    septembrie septembris septiembre sestd sestdiena set setembre setembro setm setmana setmanes sett settembre
    settimana settimane sex sexta sie sierpień sierpnia sij siječanj siječnja sk so sob sobota sonntag spal spalio
    spalis sre sreda sri srijeda srp srpanj srpen srpna srpnja st streda stu studeni studenoga sty styczeń stycznia
    středa su sub subota sun sunday sunnuntai sunnuntaina svi svibanj svibnja svētd svētdiena syys syyskuu syyskuuta sze
    szept szeptember szerda szo szombat sáb sábado sáu sâm sâmbătă sön söndag søn søndag săpt săptămâni săptămână tammi
    tammikuu tammikuuta teden tedna tedni tednov teisipäev tem temmuz ter terça th thg thu thursday tháng thứ ti tiistai
    tiistaina tir tirs tirsdag tis tisdag tj tjedan tjedana tjedna tjedno to tor torek tors torsdag torstai torstaina
    touko toukokuu toukokuuta tr tra travanj travnja trečiadienis trešd trešdiena tue tuesday tuần tydz tydzień tyg
    tygodni tygodnia tygodnie týd týden týdne týdny týdnů týž týždeň týždne týždňa týždňov tư uge uger uke uker ut uto
    utorak utorok vas vasario vasaris vasárnap vecka veckor veebr veebruar velj veljača veljače ven vendredi venerdì vie
    viernes viikko viikkoa vin vineri vk vr vrijdag w wed wednesday week weeks weken wk wkn wks wo woche wochen woensdag
    wrz wrzesień września wt wtorek za zaterdag zo zondag zář září ápr április çar çarşamba úno únor února út úterý
    červen července červenec června čet četrtek četvrtak čt čtvrtek čvc čvn říj říjen října śr środa şub şubat
    šeštadienis št štvrtok ανά απρ απρίλιος απριλίου αυγ αυγούστου αύγ αύγουστος δεκ δεκέμβριος δεκεμβρίου δευ δευτέρα
    εβδ εβδομάδα εβδομάδες ιαν ιανουάριος ιανουαρίου ιουλ ιουλίου ιουν ιουνίου ιούλ ιούλιος ιούν ιούνιος κυρ κυριακή μάι
    μάιος μάρ μάρτιος μαΐ μαΐου μαρ μαρτίου νοέ νοέμβριος νοε νοεμβρίου οκτ οκτωβρίου οκτώβριος πέμ πέμπτη παρ παρασκευή
    σάβ σάββατο σεπ σεπτέμβριος σεπτεμβρίου τετ τετάρτη τρί τρίτη φεβ φεβρουάριος φεβρουαρίου авг август августа апр
    апрель апреля април бер березень березня вер вересень вересня воскресенье вс вт вторник вівторок груд грудень грудня
    дек декабрь декабря декември дец децембар жовт жовтень жовтня июл июль июля июн июнь июня квіт квітень квітня лип
    липень липня лист листопад листопада лют лютий лютого май мар март марта мая мај на нд нед недели недель неделю
    неделя недеља недеље недељно неділя нов новембар ное ноември нояб ноябрь ноября окт октобар октомври октябрь октября
    пʼятниця пет петак петък пн пон понеделник понедельник понедељак понеділок пт пятница сб седм седмица седмици сент
    сентябрь сентября сеп септембар септември середа серп серпень серпня ср сре среда сряда суб суббота субота събота
    січ січень січня тиж тиждень тижня тижні тижнів трав травень травня уто уторак феб фебруар фев февр февраль февраля
    февруари черв червень червня чет четвер четверг четвртак четвъртък чт юли юни янв январь января яну януари јан
    јануар јул јун א אוג אוגוסט אוק אוקטובר אפר אפריל ב ג ד דצמ דצמבר ה ו חמישי יולי יום יוני ינו ינואר מאי מרץ נוב
    נובמבר ספט ספטמבר פבר פברואר ראשון רביעי שבוע שבועות שבועיים שבת שישי שלישי שני آوریل أ أبريل أسابيع أسبوع أسبوعان
    أغسطس أكتوبر ا الأحد الأربعاء الأسبوع الاثنين الثلاثاء الجمعة الخميس السبت اوت اکتبر جمعه در دسامبر دوشنبه ديسمبر
    سبتمبر سه سپتامبر شنبه فبراير فوریه في مارس مايو مه نوامبر نوفمبر هفته يناير يوليو يونيو پنجشنبه چهارشنبه ژانویه
    ژوئن ژوئیه یکشنبه ก กร กรกฎาคม กายน ค งคาร งหาคม จ ต ตย ถ ท ธ นจ นทร นธ นพ นพฤห นยายน นวาคม นศ นอ นอาท นาคม นายน
    นเสาร ปดาห พ พฤศจ พฤษภาคม พฤห ม มกราคม มภาพ ย ลาคม ว ศ ส สบด อ อส อาท เม เมษายน เสาร 一月 七月 三月 九月 二月 五月 八月 六月 十一月 十二月
    十月 周 周一 周三 周二 周五 周六 周四 周日 四月 土 土曜日 年 日 日曜日 星期一 星期三 星期二 星期五 星期六 星期四 星期日 月 月曜日 木 木曜日 水 水曜日 火 火曜日 週 週間 金 金曜日 금 금요일 년 목
    목요일 수 수요일 월 월요일 일 일요일 주 주당 토 토요일 화 화요일
    """.split()
)
"""Names of months and days, the word for a week, and what stands between the parts of a date, in lower case."""
